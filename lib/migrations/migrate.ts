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
 * A module's migrations for one database. Every method opens and closes its own connection. Errors have a
 * `kind` and its values (see `problemsOf`). If the method changes the database, its errors also have
 * `RunFacts`.
 */
export interface Migrator {
  /**
   * The database of the migrations. Undefined if the connection string is not a URL, in which case every
   * method rejects.
   */
  readonly database: DatabaseAddress | undefined
  /** The way in which a statement waits for its lock on this engine. */
  readonly lockWaits: LockWait
  /**
   * Applies every missing version up to `to`. Safe to run on any number of hosts at once: one applies the
   * versions while the others wait.
   *
   * @throws {RangeError} if the files have no version `to`.
   */
  up(to?: number): Promise<UpResult>
  /**
   * Rolls back every version above `to`; 0 rolls everything back. Without `to`, rolls back the module's last
   * applied version. Uses the stored SQL if the files are missing.
   * @throws {RangeError} if `to` is neither 0 nor an applied version.
   */
  down(to?: number): Promise<DownResult>
  /** Returns the versions that `down` would roll back, and the data that would be lost. Changes nothing. */
  rollBacks(to?: number): Promise<readonly RollBack[]>
  /** Rolls back the module's last applied version and applies it again from its present file. */
  redo(): Promise<DownResult & UpResult>
  /**
   * Returns the versions that `redo` would roll back. Rejects if `redo` would, before any confirmation.
   * Changes nothing.
   */
  checkRedo(): Promise<readonly RollBack[]>
  /**
   * Records every version up to `to` as applied without running its file, for a database that already has the
   * files' objects. Creates missing tables of Ashlar's first version. The next `up` applies missing upgrades
   * of Ashlar's tables.
   *
   * @throws {MigrationError} `dirty` if a version was run in this database before.
   */
  baseline(to: number): Promise<BaselineResult>
  /**
   * Records how a version was resolved manually, without running anything. Use `applied` for a dirty or
   * missing version whose changes are in the database. Use `rolledBack` for a dirty version of which no
   * changes remain.
   *
   * @throws {MigrationError} `dirty` if the version needs no resolution.
   */
  resolve(version: number, as: Resolution): Promise<void>
  /** Rejects if `resolve` would, before any confirmation. Changes nothing. */
  checkResolution(version: number, as: Resolution): Promise<void>
  /**
   * Returns the other tool that migrates the schema, recognized by its history table, or undefined if there
   * is none. Changes nothing.
   */
  foreignTool(): Promise<AdoptableTool | undefined>
  /** Returns the applied versions whose files have been edited. Changes nothing. */
  edited(): Promise<readonly EditedVersion[]>
  /** Records the files of edited versions as applied, without running anything. */
  repair(): Promise<readonly EditedVersion[]>
  /**
   * Returns the plan of the next `up`: its locks, the calls that wait for them, the data that would be lost,
   * and the sizes of the tables. Changes nothing.
   * @throws the error with which `up` would reject the files or the database.
   */
  plan(): Promise<readonly PlannedVersion[]>
  /**
   * Applies the missing versions to the database, which must be a copy, while other clients use its tables.
   * Reports how long these clients waited. After a failure, the versions applied before remain.
   *
   * @param onVersion - called after each version, including a failed one.
   */
  dryRun(onVersion?: (version: TriedVersion) => void): Promise<readonly TriedVersion[]>
  /** Returns the database's schemas that have versions of a module; empty on MySQL. Changes nothing. */
  versionedSchemas(): Promise<readonly VersionedSchema[]>
  /**
   * Returns the migrations that another tool recorded before the first `up`, or has run since its history was
   * imported, and true if `up` rejects the database because of them. Undefined if there are none. Changes
   * nothing.
   */
  otherHistory(): Promise<OtherHistory | undefined>
  /** Returns the state of each version. Changes nothing. */
  status(): Promise<readonly VersionStatus[]>
  /**
   * Returns the differences between database and files, which `differenceText` formats. Changes nothing.
   * @param compare - a further comparison, such as `schemaComparison(entities)` of `ashlar/persistence`.
   */
  verify(compare?: SchemaComparison): Promise<readonly (Difference | TableDifference)[]>
  /**
   * Applies each version, rolls it back and applies it again in a scratch database. Returns the objects that
   * are not restored. If a version fails, it is the last result. A down migration without statements is
   * skipped; a comment in it states why there is nothing to undo.
   *
   * @param scratch - an empty database. Default: one is created on the same server and dropped afterwards.
   * @throws {MigrationError} `denied` if the user may not create a database.
   */
  tryDowns(scratch?: string): Promise<readonly TriedDown[]>
  /**
   * Applies the files to an empty scratch database. Returns the first statement that fails, or the objects
   * that the files leave broken, as findings of the rule `fails-on-empty`. Returns the reason if there is no
   * scratch database.
   *
   * @param scratch - an empty database. Default: one is created on the same server and dropped afterwards.
   */
  tryUps(scratch?: string): Promise<TriedUps>
  /** Returns the findings of lint. Opens no connection. */
  lint(): Promise<readonly Finding[]>
  /**
   * Returns the changes from the files' schema to the model's. Creates databases for the comparison on the
   * same server and drops them afterwards.
   * @param model - such as `schemaModel(entities)` of `ashlar/persistence`.
   * @throws {MigrationError} `denied` if the user may not create a database.
   */
  diff<Tables, Changes>(
    model: ComparedModel<Tables, Changes>,
    options?: DiffOptions,
  ): Promise<DiffResult<Changes>>
}

/**
 * Returns the migrator of a module's files and a database.
 *
 * @throws {DeclarationError} with every invalid option, or if the database does not run versioned SQL.
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

/**
 * The progress of a run when it stopped.
 * @internal
 */
export interface RunFacts {
  /** True if it had begun a version or imported another tool's history. */
  readonly hasChanged: boolean
  /** The versions that it had applied and rolled back. Neither is reverted. */
  readonly applied: readonly string[]
  readonly rolledBack: readonly string[]
}

const BEGINNINGS = new Set<Progress['kind']>(['adopted', 'recovering', 'file'])

/** Runs work that changes the database, and adds `RunFacts` to its error. */
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

/**
 * Returns the tool that migrates the schema with the command to dump the schema, or undefined if no known
 * tool's table exists.
 */
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
 * Returns the statements of a schema dump that create objects, for the file that imports the schema.
 * Statements that create the schema itself are omitted.
 * @internal
 */
export const dumpedStatements = (dump: string, dialect: Dialect, schema = 'public'): readonly string[] =>
  statementsOfDump(dump, engineOf(dialect).syntax, schema)

/**
 * Returns the findings of lint in a module's files for one engine. Opens no connection.
 *
 * @internal
 * @param statementTimeoutMs - the statement timeout, for findings that mention a number of rows. Default:
 *   60000.
 * @throws {DeclarationError} with every misnamed, missing, duplicate or misplaced file.
 */
export async function lintFiles(
  files: FileSource,
  dialect: Dialect,
  statementTimeoutMs?: number,
): Promise<readonly Finding[]> {
  return (await readSet(files, engineOf(dialect), statementTimeoutMs)).findings
}
