import { MigrationError } from '../errors.js'
import type { Dialect } from './files/dialect-name.js'
import { isOfFramework } from './files/migration-files.js'
import { stoppedAgain } from './messages/problem.js'
import { readSet } from './migration-set.js'
import { withSession } from './session/session.js'
import { up } from './runner.js'
import { scratchOf } from './scratch.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import type { LiveSchema } from './version-status.js'

/**
 * A schema that can be created, read and compared, such as `schemaModel(entities)` of `ashlar/persistence`.
 */
export interface ComparedModel<Tables, Changes> {
  /** Creates the model's tables in an empty database. */
  readonly make: (live: LiveSchema) => Promise<void>
  /** Reads a database's tables. */
  readonly read: (live: LiveSchema) => Promise<Tables>
  /**
   * Returns the changes from the first tables to the second. Omits differences that the third tables have,
   * too.
   */
  readonly changes: (from: Tables, wanted: Tables, known?: Tables) => Changes
  /** Returns the first tables with the column properties that a change would drop, such as comments. */
  readonly kept?: (from: Tables, live: Tables) => Tables
}

/** Options of `diff`. */
export interface DiffOptions {
  /**
   * An empty database for the comparison. Default: one is created on the same server and dropped afterwards.
   */
  readonly scratch?: string
  /** Compares the connection string's database in its current state instead of the files' schema. */
  readonly live?: boolean
}

/** The result of `diff`. */
export interface DiffResult<Changes> {
  readonly dialect: Dialect
  readonly changes: Changes
  /**
   * With `live`, the changes from the database to the schema of its files; undefined without it, or without
   * files.
   */
  readonly drift: Changes | undefined
  /** Databases of earlier comparisons that were killed, or of comparisons that are running. */
  readonly leftovers: readonly string[]
}

/**
 * Returns the changes from the files' schema to the model's. Both are created in separate databases, so that
 * the server itself determines the stored form. A live database is compared with the files' schema, too. If
 * they differ, a version generated for it would fail in other databases.
 */
export async function diff<Tables, Changes>(
  options: ResolvedOptions,
  model: ComparedModel<Tables, Changes>,
  { scratch: url, live = false }: DiffOptions = {},
): Promise<DiffResult<Changes>> {
  const scratch = scratchOf(options, url)
  const ofFiles =
    live && !(await hasFiles(options))
      ? undefined
      : await scratch.use(async (there) => {
          await up(there).catch(ofTheFiles)
          return withSession(there, 'read', (session) => model.read(session))
        })
  const read = () => withSession(options, 'read', (session) => model.read(session))
  const from = live || ofFiles === undefined ? await read() : await kept(model, ofFiles, read, url)
  const wanted = await scratch.use((there) =>
    withSession(there, 'change', async (session) => {
      await session.makeSchema()
      await model.make(session)
      return model.read(session)
    }),
  )
  return {
    dialect: options.engine.dialect,
    changes: model.changes(from, wanted),
    drift: live && ofFiles !== undefined ? model.changes(from, wanted, ofFiles) : undefined,
    leftovers: await scratch.leftovers(),
  }
}

/**
 * Returns the tables with the column properties of the live database. If a scratch database was given, the
 * connection string's database may be unreachable; the files' schema is then used alone.
 */
async function kept<Tables>(
  { kept: keep }: Pick<ComparedModel<Tables, unknown>, 'kept'>,
  ofFiles: Tables,
  read: () => Promise<Tables>,
  scratch: string | undefined,
): Promise<Tables> {
  if (keep === undefined) return ofFiles
  const live = await (scratch === undefined ? read() : read().catch(() => undefined))
  return live === undefined ? ofFiles : keep(ofFiles, live)
}

/** Returns true if the module has a version of its own. */
async function hasFiles({ files, engine, statementTimeoutMs }: ResolvedOptions): Promise<boolean> {
  const { migrations } = await readSet(files, engine, statementTimeoutMs)
  return migrations.some(({ version }) => !isOfFramework(version))
}

const ofTheFiles = (error: unknown): never => {
  if (!(error instanceof MigrationError)) throw error
  throw stoppedAgain(error, {
    kind: 'notReplayed',
    cause: error.problem,
    isOfFile: error.stop === 'failed',
  })
}
