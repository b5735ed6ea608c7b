import { Failure } from '../../errors/failure.js'
import { pathFlag } from '../../loading/path-flag.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

interface Adopted extends OnDatabase {
  readonly tool: string
  readonly files: readonly string[]
  readonly recorded: readonly string[]
}

export default class Adopt extends MigratingVerb {
  static override summary = 'Take over a schema that another tool migrates.'
  static override description = `Knows TypeORM, Knex, Drizzle, node-pg-migrate, Sequelize, Prisma, MikroORM, Flyway, Liquibase, goose, Alembic, Django, dbmate and Rails by the tables of their histories. Without --dump it prints the command that dumps the schema.

With --dump it writes the statements of the dump into 0002_adopted_<tool>, makes the framework's own tables, and records both versions as applied. Tables that are there are not changed. The folder must have no hand-written version yet. Stop the other tool before: where its history has moved since, migrate up refuses the schema and says what to do.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --dump schema.sql',
  ]
  static override flags = {
    dump: pathFlag({ summary: 'The file with the schema dump.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<Adopted> {
    const { flags } = await this.parse(Adopt)
    const [{ adoptedVersion }, { writeNextFiles }] = await Promise.all([
      import('../../migrate/adopted-version.js'),
      import('../../migrate/next-files.js'),
    ])
    const before = { ...flags, mayBegin: true }
    const found = await this.migrating(before, (migrator) => migrator.foreignTool())
    if (found === undefined)
      throw new Failure(
        'input',
        'no history of another tool is known here. For an empty schema, use ashlar migrate new and up; for one that has tables, write what it has into 0002, and run ashlar migrate baseline --to 2',
      )
    if (flags.dump === undefined) {
      this.say([
        `${found.tool} migrates this schema. Dump it, with the server and the name of this database, and take it over:`,
        `${found.dump} > schema.sql`,
        'ashlar migrate adopt --dump schema.sql',
      ])
      return this.onDatabase({ tool: found.tool, files: [], recorded: [] })
    }
    const version = await adoptedVersion(found, { files: flags.files, dump: flags.dump })
    const { files } = writeNextFiles(flags.files, found.dialect, [version])
    const recorded = await this.migrating(flags, (migrator) => migrator.baseline(2))
    this.say([
      ...files.map((file) => `${this.paint.good('written')} ${file}`),
      ...recorded.map((name) => `${this.paint.good('recorded')} ${name}`),
    ])
    return this.onDatabase({ tool: found.tool, files, recorded })
  }
}
