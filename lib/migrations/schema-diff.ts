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

/** A schema that can be made, read and compared, such as `schemaModel(entities)` of `ashlar/persistence`. */
export interface ComparedModel<Tables, Changes> {
  /** Makes the tables of the model in an empty database. */
  readonly make: (live: LiveSchema) => Promise<void>
  /** Reads the tables of a database. */
  readonly read: (live: LiveSchema) => Promise<Tables>
  /**
   * The changes from the first tables to the second, without those by which the third tables differ from the
   * second as well.
   */
  readonly changes: (from: Tables, wanted: Tables, known?: Tables) => Changes
  /** The first tables, with what their columns would lose in a change, such as comments. */
  readonly kept?: (from: Tables, live: Tables) => Tables
}

/** The inputs of `diff`. */
export interface DiffOptions {
  /** An empty database for the comparison. Default: one is made on the same server, and dropped. */
  readonly scratch?: string
  /** Compares the database of the connection string as it is, instead of what the files make. */
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
  /**
   * Databases that earlier comparisons left on the server, because they were killed; or that others use now.
   */
  readonly leftovers: readonly string[]
}

/**
 * The changes from the schema of the files to the model's. Both are created in databases of their own, so
 * that the server itself reports the stored form. A live database is compared with the schema of its files,
 * too: if it differs, a version written for it would not run in others.
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

/** With a scratch database the other one may be out of reach: then the files say all. */
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

/** True if the module has a version beside the framework's own. */
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
