import { expect } from 'chai'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { onEachEngine } from '../../migrations/each-engine.js'
import { compiled, root } from '../../support/root.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { blocksOf, textOf } from '../../support/sources/documents.js'
import { javascriptOf } from '../../support/sources/page-module.js'

const PAGE = 'docs/guides/changing-tables.md'

/** What is below a heading of the page: the commands, and the text of its blocks of a language. */
const below = (title: string) => {
  const text = textOf(PAGE).split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const blocks = blocksOf(PAGE).filter((block) => text.includes(`\`\`\`${block.language}\n${block.text}\n`))
  const inLanguage = (language: string) =>
    blocks.filter((block) => block.language === language).map((block) => block.text)
  return { text, commands: inLanguage('sh').map((lines) => lines.split('\n')), inLanguage }
}

const entityOf = (decorators: string, members: string) => `
  import { Default, Resource, SoftDeletable, TenantScoped } from 'ashlar/decorators'
  import { Column, Entity, PrimaryColumn, Unique } from 'typeorm'
  @Resource() @Entity('tasks') @TenantScoped() ${decorators}
  export class Task {
    @PrimaryColumn() id!: string
    @Column({ length: 63 }) projectId!: string
    @Column({ length: 100 }) title!: string
    accountId!: string
    ${members}
  }`

onEachEngine(`a change of ${PAGE}`, (database, dialect) => {
  const place = operatorFolder(database)
  before(function () {
    if (basename(compiled) !== 'dist') this.skip()
  })
  beforeEach(() => {
    mkdirSync(join(place.path, 'node_modules'))
    for (const [name, target] of [
      ['ashlar', root],
      ['typeorm', join(root, 'node_modules/typeorm')],
    ] as const)
      symlinkSync(target, join(place.path, 'node_modules', name))
    writeFileSync(join(place.path, 'package.json'), '{ "type": "module" }')
  })

  let deployed = 0
  const deploy = (source: string) => {
    const module = join(place.path, `entities-${++deployed}.js`)
    writeFileSync(module, javascriptOf(source))
    place.checkOut(module)
  }
  const entity = (decorators: string, members = '') => deploy(entityOf(decorators, members))
  const run = (command: string) => {
    expect(command).to.match(/^ashlar migrate \S/)
    return place.run(...command.split(' ').slice(2))
  }
  const does = async (...commands: readonly string[]) => {
    for (const command of commands) {
      const { exit, stdout, stderr } = await run(command)
      expect(exit, `${command}: ${stdout}${stderr}`).to.equal(0)
    }
  }
  const path = (name: string) => join(place.path, 'migrations', dialect, name)
  const written = () =>
    readdirSync(path('.'))
      .sort()
      .map((name) => readFileSync(path(name), 'utf8'))
      .join('\n')
  const VERIFY = 'ashlar migrate verify --entities dist/entities.js'

  it('makes a column required, with real values', async () => {
    const { commands, inLanguage, text } = below('A required column with real values')
    const [, member = ''] = /`(@Default.*? queue!: string)`/.exec(text) ?? []
    const [expand = [], contract = []] = commands
    const [column = '', backfill = ''] = inLanguage('sql')
    entity('')
    await does('ashlar migrate diff tasks --entities dist/entities.js', 'ashlar migrate up')
    await database().rows(
      `INSERT INTO tasks (account_id, id, project_id, title) VALUES ('t', '1', 'p', 'urgent: build'), ('t', '2', 'p', 'rest')`,
    )
    entity('', member)
    await does(...expand)
    if (dialect === 'postgres') expect(written()).to.include(column)
    const { exit, stdout } = await run(VERIFY)
    expect(exit).to.equal(1)
    if (dialect === 'postgres') expect(stdout).to.include(inLanguage('text')[0])
    await does('ashlar migrate new fill_queue')
    const [up = ''] = readdirSync(path('.')).filter((name) => name.endsWith('_fill_queue.up.sql'))
    writeFileSync(path(up), `${backfill}\n`)
    writeFileSync(path(up.replace('.up.', '.down.')), '-- the values stay\n')
    await does(...contract)
    const rows = await database().rows('SELECT queue FROM tasks ORDER BY id')
    expect(rows.map(({ queue }) => queue)).to.deep.equal(['fast', 'slow'])
    entity('', member.replace(/^@Default\(.*?'\) /, ''))
    await does(VERIFY)
  })

  it('renames a column, and takes that back while a newer image writes', async () => {
    const title = '@Column({ length: 100 }) title!: string'
    const [, member = ''] = /(@Column\(.*?displayName!: string)/.exec(below('Rename a column').text) ?? []
    const renamed = (text: string) =>
      deploy(
        entityOf('', '')
          .replace(title, text)
          .replace('import { Default,', 'import { RenamedFrom,')
          .replace('SoftDeletable, ', ''),
      )
    const numbers = () => readdirSync(path('.')).map((name) => Number(name.slice(0, 4)))
    const all = () => database().rows('SELECT id, title, display_name FROM tasks ORDER BY id')
    const both = async () => (await all()).map((row) => [row.id, row.title, row.display_name])
    const insert = (id: string, column: string) =>
      database().rows(
        `INSERT INTO tasks (account_id, id, project_id, ${column}) VALUES ('t', '${id}', 'p', 'new ${id}')`,
      )
    renamed(title)
    await does('ashlar migrate diff tasks --entities dist/entities.js', 'ashlar migrate up')
    for (const id of ['1', '2', '3']) await insert(id, 'title')
    renamed(member)
    await does('ashlar migrate diff next --entities dist/entities.js', 'ashlar migrate up')
    const last = Math.max(...numbers())
    await does('ashlar migrate diff end --entities dist/entities.js --contract', 'ashlar migrate up')
    await does('ashlar migrate down')
    await insert('4', 'display_name')
    await database().rows(`UPDATE tasks SET display_name = 'NEW 2' WHERE id = '2'`)
    await database().rows(`UPDATE tasks SET display_name = 'new 3 ' WHERE id = '3'`)
    await does(`ashlar migrate down --to ${last}`)
    const kept = [
      ['1', 'new 1'],
      ['2', 'NEW 2'],
      ['3', 'new 3 '],
      ['4', 'new 4'],
    ]
    expect(await both()).to.deep.equal(kept.map(([id, text]) => [id, text, text]))
    await insert('5', 'title')
    await insert('6', 'display_name')
    await database().rows(`UPDATE tasks SET title = 'old' WHERE id = '4'`)
    expect((await both()).slice(3)).to.deep.equal([
      ['4', 'old', 'old'],
      ['5', 'new 5', 'new 5'],
      ['6', 'new 6', 'new 6'],
    ])
    await does('ashlar migrate up', VERIFY)
  })

  it('makes a resource soft-deletable', async () => {
    const { inLanguage, text } = below('Make a resource soft-deletable')
    const rule = "@Unique(['projectId', 'title'])"
    entity(rule)
    await does('ashlar migrate diff tasks --entities dist/entities.js', 'ashlar migrate up')
    entity(`${rule} @SoftDeletable()`, 'deleteTime?: Date')
    await does('ashlar migrate diff soft --entities dist/entities.js', 'ashlar migrate up')
    if (dialect === 'postgres') for (const sql of inLanguage('sql')) expect(written()).to.include(sql)
    else expect(written()).to.match(/ADD COLUMN `deleted_at`[^]*ADD COLUMN `soft_delete_key`/)
    expect((await run(VERIFY)).exit).to.equal(1)
    expect(text).to.include('`migrate diff NAME --contract`')
    await does(
      'ashlar migrate diff soft_end --entities dist/entities.js --contract',
      'ashlar migrate up',
      VERIFY,
    )
  })
})
