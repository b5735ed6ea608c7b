import type { BaselineResult } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { pathFlag } from '../../loading/path-flag.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import { counted } from '../../output/counted.js'
import type { DatabaseFlags } from '../../migrate/migrator-of.js'

interface Adopted extends BaselineResult, OnDatabase {
  readonly tool: string
  readonly dumpCommand: string
  readonly files: readonly string[]
}

export default class Adopt extends MigratingVerb {
  static override summary = 'Take over a schema that another tool migrates.'
  static override description = `Knows TypeORM, Knex, Drizzle, node-pg-migrate, Sequelize, Prisma, MikroORM, Flyway, Liquibase, goose, Alembic, Django, dbmate and Rails by the tables of their histories. Without --dump it prints the command line that dumps the schema, without a password and without the tables that the tool has for itself.

With --dump it writes the statements of the dump into 0002_adopted_<tool>, makes the framework's own tables, and records both versions as applied. Tables that are there are not changed. A dump that has the tables of the tool is refused. The folder must have no hand-written version yet. Stop the other tool before: where its history has moved since, migrate up refuses the schema and says what to do.`
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
    const [
      { adoptedVersion, dumpIn, refuseVersions },
      { nextLine, UNCOMPARED },
      { removeFiles, writeNextFiles },
    ] = await Promise.all([
      import('../../migrate/adopted-version.js'),
      import('../../migrate/lines/next-line.js'),
      import('../../migrate/next-files.js'),
    ])
    const dump = flags.dump === undefined ? undefined : { file: flags.dump, text: dumpIn(flags.dump) }
    const found = await this.migrating({ ...flags, mayBegin: true }, (migrator) => migrator.foreignTool())
    if (found === undefined) return this.#withoutTool(flags, nextLine(['up']))
    const { tool, table, head, dump: dumpCommand } = found
    const recorded = dump === undefined ? undefined : await this.#adoptedBefore(flags)
    if (recorded !== undefined) {
      this.say([`${recorded} is recorded already: nothing to do`])
      return this.onDatabase({ tool, dumpCommand, files: [], applied: [], recorded: [] })
    }
    refuseVersions(flags.files, found.dialect)
    if (dump === undefined) {
      this.say([
        `${tool} migrates this schema: its table ${table} lists ${counted(head.count, 'migration')}. Run this line, which dumps the schema without the tables of ${tool}:`,
        `${dumpCommand} > schema.sql`,
        nextLine(['adopt', '--dump', 'schema.sql']),
      ])
      return this.onDatabase({ tool, dumpCommand, files: [], applied: [], recorded: [] })
    }
    const version = await adoptedVersion(found, dump.text, dump.file)
    const { files } = writeNextFiles(flags.files, found.dialect, [version])
    const result = await this.migrating(flags, (migrator) => migrator.baseline(2)).catch((error: unknown) => {
      removeFiles(files)
      throw error
    })
    const { recordedLines } = await import('../../migrate/lines/recorded-lines.js')
    this.say([
      ...files.map((file) => `${this.paint.good('written')} ${file}`),
      ...recordedLines(result, this.paint),
      nextLine(['up'], UNCOMPARED),
    ])
    return this.onDatabase({ tool, dumpCommand, files, ...result })
  }

  /** A history that `up` takes over by itself. @throws {Failure} where there is none, or `up` refuses it. */
  async #withoutTool(flags: DatabaseFlags, next: string): Promise<Adopted> {
    const other = await this.migrating({ ...flags, mayBegin: true }, (migrator) => migrator.otherHistory())
    if (other === undefined)
      throw new Failure(
        'database',
        'no history of another tool is known here. For an empty schema, use ashlar migrate new and up; for one that has tables, write what it has into 0002, and run ashlar migrate baseline --to 2',
      )
    if (other.isRefused) throw new Failure('database', other.text)
    this.say([`${other.text}: there is nothing to adopt`, next])
    return this.onDatabase({ tool: 'golang-migrate', dumpCommand: '', files: [], applied: [], recorded: [] })
  }

  /** The version of an earlier call; undefined where there was none. */
  async #adoptedBefore(flags: DatabaseFlags): Promise<string | undefined> {
    const migrator = await this.connected({ ...flags, mayBegin: true })
    const states = await migrator.status().catch(() => [])
    return states.find(
      ({ name, isRecorded, state }) => isRecorded && state === 'applied' && name.startsWith('0002_adopted_'),
    )?.name
  }
}
