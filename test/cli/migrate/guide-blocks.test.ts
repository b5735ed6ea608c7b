import { expect } from 'chai'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onEachEngine } from '../../migrations/each-engine.js'
import { dumped } from '../../support/migration-tools/dumped.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { compiled, root } from '../../support/root.js'
import { textOf } from '../../support/sources/documents.js'
import { commandsOf, guideSection, RECIPES } from '../../support/sources/migration-guides.js'

const CHANGING = textOf('docs/guides/changing-tables.md')
const [FIRST, CHANGE, CONTRACT, ADOPTION] = [
  commandsOf(textOf('docs/guides/migrations.md')),
  commandsOf(CHANGING),
  commandsOf(CHANGING.slice(CHANGING.indexOf('When no old image is running:\n'))),
  commandsOf(guideSection('A database of another tool')),
]

describe('the commands of ashlar migrate', () => {
  it('are each in a recipe of the guides or in a block that is run here', () => {
    const run = [...FIRST, ...CHANGE, ...CONTRACT, ...ADOPTION, ...RECIPES.values()].join('\n')
    const commands = readdirSync(join(root, 'cli/commands/migrate')).map((file) => file.replace('.ts', ''))
    const named = [...run.matchAll(/^ashlar migrate ([a-z-]+)/gm)].map(([, name]) => name)
    expect([...new Set(named)]).to.have.members(commands)
  })
})

onEachEngine(
  'a block of the guides to migrations',
  (database, dialect) => {
    const place = operatorFolder(database)
    beforeEach(() => {
      mkdirSync(join(place.path, 'migrations', dialect), { recursive: true })
    })

    const entities = (name: 'before' | 'after') =>
      place.checkOut(join(compiled, `test/cli/migrate/hosts/${name}.js`))
    const run = (command: string) => {
      expect(command).to.match(/^ashlar migrate \S/)
      return place.run(...command.split(' ').slice(2))
    }
    const does = async (command: string) => {
      const { exit, stdout, stderr } = await run(command)
      expect(exit, `${command}: ${stdout}${stderr}`).to.equal(0)
      return stdout
    }

    it('makes the first tables, and rolls them back when that is confirmed', async () => {
      entities('before')
      const last = FIRST.at(-1) ?? ''
      for (const command of FIRST.slice(0, -1)) await does(command)
      expect(last).to.equal('ashlar migrate down')
      expect((await run(last)).exit).to.equal(2)
      expect(JSON.parse(await does(`${last} --yes --json`))).to.deep.include({ rolledBack: ['0002_widgets'] })
    })

    it('changes tables, and ends with tables that are as the entities say', async () => {
      entities('before')
      for (const command of CHANGE) await does(command)
      entities('after')
      for (const command of CHANGE) await does(command)
      for (const command of CONTRACT) await does(command)
    })

    it('takes a database of another tool over', async () => {
      entities('before')
      const size = dialect === 'postgres' ? 'text' : 'varchar(255)'
      await database().rows(
        `CREATE TABLE knex_migrations (id int PRIMARY KEY, name ${size}, batch int, migration_time timestamp NULL)`,
      )
      await database().rows(
        `CREATE TABLE knex_migrations_lock (${dialect === 'postgres' ? '"index"' : '`index`'} int PRIMARY KEY, is_locked int)`,
      )
      await database().rows(`INSERT INTO knex_migrations VALUES (1, '20240101_parts.js', 1, NULL)`)
      await database().rows('CREATE TABLE parts (id bigint PRIMARY KEY, title varchar(99) NOT NULL)')
      const [print = '', take = '', ...others] = ADOPTION
      const [, command = ''] = (await does(print)).split('\n')
      writeFileSync(join(place.cwd, 'schema.sql'), dumped(database().url, command))
      await does(take)
      const verify = others.pop() ?? ''
      for (const other of others) await does(other)
      // No file makes the table of the entity yet: diff does.
      expect((await run(verify)).exit).to.equal(1)
      await does('ashlar migrate diff next --entities dist/entities.js')
      await does('ashlar migrate up')
      await does(verify)
    })
  },
  { empty: true },
)
