import { engineOf } from './engines.js'
import {
  baseline,
  type BaselineResult,
  checkResolution,
  edited,
  type EditedVersion,
  repair,
  type Resolution,
  resolve,
} from './corrections.js'
import { type ComparedModel, diff, type DiffOptions, type DiffResult } from './schema-diff.js'
import { dryRun, type TriedVersion } from './migration-dry-run.js'
import type { Dialect } from './files/dialect-name.js'
import type { FileSource } from './files/migration-files.js'
import type { Finding } from './lint/lint-file.js'
import { plan, type PlannedVersion } from './migration-plan.js'
import type { TableDifference } from '../text/table-difference.js'
import type { Difference } from './messages/differences.js'
import type { TriedDown } from './messages/tried-downs.js'
import type { Progress } from './session/progress.js'
import { statementsOfDump } from './histories/dump.js'
import { type AdoptableTool, foreignTool } from './histories/foreign.js'
import { readSet } from './migration-set.js'
import { resolveOptions } from './resolve-options.js'
import type { DatabaseAddress } from './session/engine.js'
import type { LockWait } from './session/effect.js'
import { withSession } from './session/session.js'
import type { MigrateOptions, ResolvedOptions } from './session/migrate-options.js'
import { addressOf } from './session/session.js'
import { down, type DownResult, type RollBack, rollBacks } from './roll-back.js'
import { checkRedo, redo, up, type UpResult } from './runner.js'
import { tryDowns, tryUps, type TriedUps } from './try-versions.js'
import type { OtherHistory } from './messages/history.js'
import {
  otherHistoryOf,
  type SchemaComparison,
  status,
  verify,
  type VersionStatus,
} from './version-status.js'
import { type VersionedSchema, versionedSchemas } from './version-status.js'

/**
 * A module's migrations for one database. Every call opens its own connection and closes it. What a call is
 * rejected with has a `kind` and its values: see `problemsOf`. An error of a call that changes the database
 * also has `RunFacts`.
 */
export interface Migrator {
  /**
   * The database of the migrations; undefined if the connection string is not a URL: then every call is
   * rejected.
   */
  readonly database: DatabaseAddress | undefined
  /** The way in which a statement waits for its lock on this engine. */
  readonly lockWaits: LockWait
  /**
   * Applies every missing version, up to `to`. Safe on any number of hosts at once: one works, the others
   * wait.
   * @throws {RangeError} when the files have no version `to`.
   */
  up(to?: number): Promise<UpResult>
  /**
   * Rolls back every version above `to`, with the stored SQL when the files are missing; 0 rolls everything
   * back. Without `to`, rolls back the last applied version of the module.
   * @throws {RangeError} when `to` is neither 0 nor an applied version.
   */
  down(to?: number): Promise<DownResult>
  /** The versions that `down` would roll back, and the losses. Changes nothing. */
  rollBacks(to?: number): Promise<readonly RollBack[]>
  /** Rolls the last applied version of the module back and applies it again, as its file is now. */
  redo(): Promise<DownResult & UpResult>
  /**
   * The versions that `redo` would roll back. Rejects if `redo` would, before any confirmation. Changes
   * nothing.
   */
  checkRedo(): Promise<readonly RollBack[]>
  /**
   * Records every version up to `to` as applied without running its file, in a database that has what they
   * make. Makes the framework's own tables of 0001 that are missing, and leaves its upgrades to `up` where
   * their tables are missing.
   * @throws {MigrationError} `dirty` when a version ran in this database before.
   */
  baseline(to: number): Promise<BaselineResult>
  /**
   * Records how a person put a version right, and runs nothing: `applied` for one that is dirty or missing
   * and is done by hand, `rolledBack` for a dirty one of which nothing is left.
   * @throws {MigrationError} `dirty` for a version that needs no resolution.
   */
  resolve(version: number, as: Resolution): Promise<void>
  /** Rejects if `resolve` would, before any confirmation. Changes nothing. */
  checkResolution(version: number, as: Resolution): Promise<void>
  /**
   * The other tool that migrates the schema, known by the table of its history; undefined without one.
   * Changes nothing.
   */
  foreignTool(): Promise<AdoptableTool | undefined>
  /** The applied versions whose files were edited since. Changes nothing. */
  edited(): Promise<readonly EditedVersion[]>
  /** Records the files of edited versions as what was applied, and runs nothing. */
  repair(): Promise<readonly EditedVersion[]>
  /**
   * The plan of the next `up`: locks, what waits for them, losses, and the sizes of the tables.
   * Changes nothing.
   * @throws what `up` would refuse the files or the database with.
   */
  plan(): Promise<readonly PlannedVersion[]>
  /**
   * Applies the missing versions to the database, which must be a copy, while other clients use its tables,
   * and reports how long these waited. On failure the earlier versions stay.
   * @param onVersion - called after each version, also after the one that fails.
   */
  dryRun(onVersion?: (version: TriedVersion) => void): Promise<readonly TriedVersion[]>
  /** The schemas of the database that have versions of a module; empty on MySQL. Changes nothing. */
  versionedSchemas(): Promise<readonly VersionedSchema[]>
  /**
   * The migrations that another tool recorded before the first `up`, or has run since its history was taken
   * over, and whether `up` rejects the database because of it; undefined if there are none. Changes nothing.
   */
  otherHistory(): Promise<OtherHistory | undefined>
  /** The state of the database. Changes nothing. */
  status(): Promise<readonly VersionStatus[]>
  /**
   * The differences between database and files, which `differenceText` formats. Changes nothing.
   * @param compare - a further comparison, such as `schemaComparison(entities)` of `ashlar/persistence`.
   */
  verify(compare?: SchemaComparison): Promise<readonly (Difference | TableDifference)[]>
  /**
   * The objects that are not restored when each version is applied, rolled back and applied again in a
   * scratch database; the last result is of the first version that fails. A down migration without statements
   * states in a comment why there is nothing to undo, and is not tried.
   * @param scratch - an empty database; default: one is created on the same server, and dropped.
   * @throws {MigrationError} `denied` if the user may not create a database.
   */
  tryDowns(scratch?: string): Promise<readonly TriedDown[]>
  /**
   * The first statement of the files that fails in an empty scratch database, or the objects that they leave
   * broken there, as findings of the rule `fails-on-empty`; or the reason why that database is missing.
   * @param scratch - an empty database; default: one is created on the same server, and dropped.
   */
  tryUps(scratch?: string): Promise<TriedUps>
  /** The findings of lint. Opens no connection. */
  lint(): Promise<readonly Finding[]>
  /**
   * The changes from the schema of the files to the model's. Creates databases for the comparison on the same
   * server, and drops them.
   * @param model - such as `schemaModel(entities)` of `ashlar/persistence`.
   * @throws {MigrationError} `denied` if the user may not create a database.
   */
  diff<Tables, Changes>(
    model: ComparedModel<Tables, Changes>,
    options?: DiffOptions,
  ): Promise<DiffResult<Changes>>
}

/**
 * @throws {DeclarationError} with every option that cannot be used; or a database that runs no versioned SQL.
 * @example
 * ```ts
 * import { migrate } from 'ashlar/migrations'
 *
 * const options = { url: 'postgres://localhost/shop', files: 'migrations', module: 'shop' }
 * const { applied } = await migrate(options).up()
 * console.log(applied)
 * ```
 */
export function migrate(options: MigrateOptions): Migrator {
  const resolved = resolveOptions(options)
  return {
    database: addressOf(resolved),
    lockWaits: resolved.engine.effects.lockWaits,
    up: (to) => run(resolved, (options) => up(options, to)),
    down: (to) => run(resolved, (options) => down(options, to)),
    rollBacks: (to) => rollBacks(resolved, to),
    redo: () => run(resolved, redo),
    checkRedo: () => checkRedo(resolved),
    baseline: (to) => run(resolved, (options) => baseline(options, to)),
    resolve: (version, as) => run(resolved, (options) => resolve(options, version, as)),
    checkResolution: (version, as) => checkResolution(resolved, version, as),
    foreignTool: () => adoptableTool(resolved),
    edited: () => edited(resolved),
    repair: () => run(resolved, repair),
    plan: () => plan(resolved),
    dryRun: (onVersion) => run(resolved, (options) => dryRun(options, onVersion)),
    versionedSchemas: () => versionedSchemas(resolved),
    otherHistory: () => otherHistoryOf(resolved),
    status: () => status(resolved),
    verify: (compare) => verify(resolved, compare),
    tryDowns: (scratch) => tryDowns(resolved, scratch),
    tryUps: (scratch) => tryUps(resolved, scratch),
    diff: (model, how) => diff(resolved, model, how),
    lint: async () => (await readSet(resolved.files, resolved.engine, resolved.statementTimeoutMs)).findings,
  }
}

/** The progress of a run when it stopped. */
export interface RunFacts {
  /** True if it had begun a version, or taken over another tool's history. */
  readonly hasChanged: boolean
  /** The versions that it had applied, and those that it had rolled back: they stay so. */
  readonly applied: readonly string[]
  readonly rolledBack: readonly string[]
}

const BEGINNINGS = new Set<Progress['kind']>(['adopted', 'recovering', 'file'])

/** Runs what changes the database. An error gets the `RunFacts`. */
async function run<T>(options: ResolvedOptions, work: (options: ResolvedOptions) => Promise<T>): Promise<T> {
  const done = { hasChanged: false, applied: [] as string[], rolledBack: [] as string[] }
  const report = (event: Progress) => {
    done.hasChanged ||= BEGINNINGS.has(event.kind)
    if (event.kind === 'done') done[event.direction === 'up' ? 'applied' : 'rolledBack'].push(event.version)
    options.report(event)
  }
  try {
    return await work({ ...options, report })
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, done satisfies RunFacts) : error
  }
}

/** The tool that migrates the schema, and how it is dumped; undefined where none is known by its table. */
function adoptableTool(options: ResolvedOptions): Promise<AdoptableTool | undefined> {
  return withSession(options, 'read', async (session) => {
    const found = await foreignTool(session)
    if (found === undefined) return undefined
    const url = new URL(options.url)
    const { name } = options.engine.addressOf(url, options.schema)
    const { schema } = options
    const dump = await options.engine.foreign.dump(session, { url, name, schema, tables: found.tables })
    return { ...found, schema, dump }
  })
}

/**
 * The statements of a schema dump that make something, for the file of a schema that is taken over; not what
 * makes the schema itself.
 */
export const dumpedStatements = (dump: string, dialect: Dialect, schema = 'public'): readonly string[] =>
  statementsOfDump(dump, engineOf(dialect).syntax, schema)

/**
 * The findings of lint in a module's files for one engine. Opens no connection.
 * @param statementTimeoutMs - how long a statement may run, for the findings that name a number of rows;
 * default 60000.
 * @throws {DeclarationError} with every misnamed, missing, doubled or misplaced file.
 */
export async function lintFiles(
  files: FileSource,
  dialect: Dialect,
  statementTimeoutMs?: number,
): Promise<readonly Finding[]> {
  return (await readSet(files, engineOf(dialect), statementTimeoutMs)).findings
}
