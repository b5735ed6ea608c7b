/**
 * Migrations from code, and the check that a database has the expected schema.
 * @module
 */
export { DeclarationError, MigrationError, type MigrationStop, Unimplemented } from '../errors.js'
export type { BaselineResult, EditedVersion, Resolution } from './corrections.js'
export { addedByVersion, createdTables, withoutDownMigration as withoutWayDown } from './created-tables.js'
export type { ComparedModel, DiffOptions, DiffResult } from './schema-diff.js'
export type { ProbeFailure, TriedVersion } from './migration-dry-run.js'
export { DIALECTS, type Dialect } from './files/dialect-name.js'
export {
  backfill,
  type BackfillValue,
  type RowBackfill,
  type RowBackfillOptions,
  type RowChange,
} from './files/row-backfill.js'
export type { FileSource } from './files/migration-files.js'
export type { Finding } from './lint/lint-file.js'
export type { Level } from './lint/rules/lint-rule.js'
export { adoptedComment } from './histories/adopted-head.js'
export type { AdoptableTool, ForeignTool, Head } from './histories/foreign.js'
export { dumpedStatements, lintFiles, migrate, type Migrator, type RunFacts } from './migrate.js'
export { type Breaks, breaksText } from './messages/break-messages.js'
export { type EmptyCopy, emptyCopyText } from './messages/empty-copy.js'
export { type Difference, differenceText } from './messages/differences.js'
export { historyText, type OtherHistory } from './messages/history.js'
export { type MigrationProblem, problemsOf, problemText } from './messages/problem.js'
export { type Recovery, recoveryText } from './messages/recoveries.js'
export { type TriedDown, triedDownText } from './messages/tried-downs.js'
export { onDownText, type Unfinished, unfinishedText } from './messages/unfinished.js'
export type { CommandLine, CommandOptions, NextStep } from '../text/command-line.js'
export type { TableDifference, TableNote } from '../text/table-difference.js'
export type { DatabaseAddress } from './session/engine.js'
export type { Effect, LockWait, Loss, TableSize } from './session/effect.js'
export type {
  PlannedLoss,
  PlannedRollBack,
  PlannedStatement,
  PlannedTable,
  PlannedVersion,
} from './migration-plan.js'
export type { MigrateOptions } from './session/migrate-options.js'
export type { Progress } from './session/progress.js'
export type { DownResult, RollBack } from './roll-back.js'
export type { TriedUps } from './try-versions.js'
export type { UpResult } from './runner.js'
export { type MigrationFiles, searchMigrations } from './files/search-migrations.js'
export type { Lost } from './sql/losses.js'
export type { Row } from './session/session.js'
export { namedDatabase, type NamedDatabase } from './resolve-options.js'
export type { SessionFailure } from './session/engine-failures.js'
export {
  type LiveSchema,
  type SchemaCheckOptions,
  type SchemaComparison,
  schemaIsCurrent,
  type VersionState,
  type VersionStatus,
} from './version-status.js'
export type { VersionedSchema } from './version-status.js'
