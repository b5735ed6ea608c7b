import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onEachEngine } from '../../migrations/each-engine.js'
import { compiled } from '../../support/root.js'
import { jsonOf, runCommand } from '../../support/run-command.js'
import { drizzle } from '../../support/migration-tools/drizzle.js'
import { dumped } from '../../support/migration-tools/dumped.js'
import { knex } from '../../support/migration-tools/knex.js'
import { nodePgMigrate } from '../../support/migration-tools/node-pg-migrate.js'
import { sequelize } from '../../support/migration-tools/sequelize.js'
import { typeorm } from '../../support/migration-tools/typeorm.js'

const ENTITIES = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'before.js')

onEachEngine(
  'a schema that another tool has made',
  (database, dialect) => {
    let folder: string
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'ashlar-tools-'))
      mkdirSync(join(folder, 'migrations', dialect), { recursive: true })
    })
    afterEach(() => rmSync(folder, { recursive: true }))

    const run = (...args: readonly string[]) =>
      runCommand(['migrate', ...args], { cwd: folder, env: { ASHLAR_DATABASE_URL: database().url } })
    const done = async (...args: readonly string[]) => {
      const ran = await run(...args)
      expect(ran.exit, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).to.equal(0)
      return ran.stdout
    }

    /** Why `up` refuses the database, and because of which tool. */
    const refusal = async () => {
      const ran = await run('up', '--json')
      const { error } = jsonOf<{ error: { problems: readonly { kind: string; tool?: string }[] } }>(ran)
      return [ran.exit, error.problems[0]?.kind, error.problems[0]?.tool]
    }

    for (const tool of [typeorm, knex, drizzle, nodePgMigrate, sequelize])
      if (tool.dialects.includes(dialect))
        it(`is taken over, changed and verified, and refused where the tool goes on: ${tool.name}`, async () => {
          await tool.apply(database().url, dialect, 1, folder)
          await database().rows(
            `INSERT INTO tasks (account_id, id, title, colour) VALUES ('t', '1', 'build', 'red')`,
          )
          expect(await refusal()).to.deep.equal([6, 'otherTool', tool.name])

          const [first, command = ''] = (await done('adopt')).split('\n')
          expect(first).to.match(new RegExp(`^${tool.name} `))
          writeFileSync(join(folder, 'schema.sql'), dumped(database().url, command))
          await done('adopt', '--dump', 'schema.sql')
          expect(JSON.parse(await done('up', '--json'))).to.deep.include({ applied: ['8001_outbox_log'] })

          // What the entity asks for and the tool did not make: exact collations, and types.
          await done('diff', 'next', '--entities', ENTITIES)
          await done('up')
          await done('diff', 'end', '--entities', ENTITIES, '--contract')
          await done('up')
          await done('verify', '--entities', ENTITIES)
          await done('check', '--entities', ENTITIES)
          expect(await database().rows('SELECT id, title, colour FROM tasks')).to.deep.equal([
            { id: '1', title: 'build', colour: 'red' },
          ])

          await tool.apply(database().url, dialect, 2, folder)
          expect(await refusal()).to.deep.equal([6, 'otherToolMoved', tool.name])
        })
  },
  { empty: true },
)
