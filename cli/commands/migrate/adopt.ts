import type { BaselineResult } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { pathFlag } from '../../loading/path-flag.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { DatabaseRun, OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

interface Adopted extends BaselineResult, OnDatabase {
  readonly tool: string
  readonly dumpCommand: string
  readonly files: readonly string[]
}

const NOTHING = { files: [], applied: [], recorded: [] }

export default class Adopt extends Verb {
  static override summary = 'Take over a schema that another tool migrates.'
  static override description = `Recognizes TypeORM, Knex, Drizzle, node-pg-migrate, Sequelize, Prisma, MikroORM, Flyway, Liquibase, goose, Alembic, Django, dbmate and Rails by their history tables. Without --dump, the command prints a command line that dumps the schema without the tool's own tables. The command line contains no password.

With --dump, the command writes the dump's statements into 0002_adopted_<tool>, creates the framework's own tables, and records both migrations as applied. Existing tables are not changed. A dump that contains the tool's own tables is rejected. The folder must not have a hand-written migration yet. Stop the other tool first: if its history changes afterwards, migrate up rejects the schema and prints what to do.`
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
      { DatabaseRun },
      { removeFiles, writeNextFiles },
      view,
    ] = await Promise.all([
      import('../../migrate/adopted-version.js'),
      import('../../migrate/database-run.js'),
      import('../../migrate/next-files.js'),
      import('../../migrate/views/adopt-view.js'),
    ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    const { style } = run
    const dump =
      flags.dump === undefined ? undefined : { file: flags.dump, text: dumpIn(flags.dump, run.command) }
    const found = await run.change((migrator) => migrator.foreignTool(), { mayBegin: true })
    if (found === undefined) return this.#withoutTool(run)
    const { tool, dump: dumpCommand, dialect } = found
    const recorded = dump === undefined ? undefined : await adoptedBefore(run)
    if (recorded !== undefined) {
      this.say(view.adoptLines({ kind: 'recorded', version: recorded }, style))
      return run.onDatabase({ tool, dumpCommand, ...NOTHING })
    }
    refuseVersions(flags.files, dialect, run.command)
    if (dump === undefined) {
      this.say(view.adoptLines({ kind: 'found', tool: found }, style))
      return run.onDatabase({ tool, dumpCommand, ...NOTHING })
    }
    const version = await adoptedVersion(found, dump.text, dump.file)
    const { files } = writeNextFiles(flags.files, dialect, [version])
    const result = await run
      .change((migrator) => migrator.baseline(2))
      .catch((error: unknown) => {
        removeFiles(files)
        throw error
      })
    this.say(view.adoptLines({ kind: 'adopted', files, result }, style))
    return run.onDatabase({ tool, dumpCommand, files, ...result })
  }

  /**
   * Adopts a history that `up` takes over without help.
   * @throws {Failure} if there is none, or if `up` rejects it.
   */
  async #withoutTool(run: DatabaseRun): Promise<Adopted> {
    const [{ historyText }, { adoptLines, nothingToAdopt }] = await Promise.all([
      import('../../../lib/migrations/index.js'),
      import('../../migrate/views/adopt-view.js'),
    ])
    const other = await run.change((migrator) => migrator.otherHistory(), { mayBegin: true })
    if (other === undefined) throw new Failure('database', nothingToAdopt(run.style))
    const text = historyText(other, run.command)
    if (other.isRefused) throw new Failure('database', text, { facts: { problems: [other.problem] } })
    this.say(adoptLines({ kind: 'byItself', text }, run.style))
    return run.onDatabase({ tool: 'golang-migrate', dumpCommand: '', ...NOTHING })
  }
}

/** Returns the migration of an earlier call; undefined if there was none. */
async function adoptedBefore(run: DatabaseRun): Promise<string | undefined> {
  const migrator = await run.connect({}, true)
  const states = await migrator.status().catch(() => [])
  return states.find(
    ({ name, isRecorded, state }) => isRecorded && state === 'applied' && name.startsWith('0002_adopted_'),
  )?.name
}
