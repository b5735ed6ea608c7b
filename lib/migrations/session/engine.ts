import type { Dialect } from '../files/dialect-name.js'
import type { EngineFiles } from '../files/engine-files.js'
import type { EngineLint } from '../lint/rules/engine-lint.js'
import type { UnusableIndex } from '../messages/differences.js'
import type { FileProblem } from '../messages/file-problems.js'
import type { Recovery } from '../messages/recoveries.js'
import type { EngineEffects } from './effect.js'
import type { Syntax } from '../sql/syntax.js'
import type { EngineFailures } from './engine-failures.js'
import type { ResolvedOptions } from './migrate-options.js'
import type { Session } from './session.js'
import type { Step } from './step.js'
import type { WalkSql } from './walk.js'
import type { AppliedVersion, VersionRow } from './version-table.js'

/** The database that a connection string names, without user and password. */
export interface DatabaseAddress {
  readonly dialect: Dialect
  /** The database's name, such as `shop`. */
  readonly name: string
  /** Host and port, such as `db.internal:5432`, or the path of a socket. */
  readonly server: string
  /** The module's schema; PostgreSQL only. */
  readonly schema?: string
}

/** The purpose of a session. A session that reads changes no settings. */
export type Purpose = 'change' | 'read'

/** The differences between database engines in migrations. */
export interface Engine extends EngineFiles {
  readonly syntax: Syntax
  readonly lint: EngineLint
  readonly failures: EngineFailures
  readonly versionTable: VersionTableSql
  /** The schemes of connection strings for this engine, without `://`. */
  readonly schemes: readonly string[]
  /** True if transactions include DDL. */
  readonly hasTransactionalDdl: boolean
  /** Returns the schema in which the files run. Empty for the database of the connection string. */
  readonly schemaOf: (said: string | undefined, module: string | undefined) => string
  /** Returns the problems of the schema in the options. */
  readonly schemaProblems: (said: string | undefined, schema: string) => readonly FileProblem[]
  /**
   * Returns the location of a module's versions, such as `in the schema inventory; --module and --schema name
   * another one`.
   */
  readonly placeOf: (schema: string) => string
  /**
   * The advice to separate a module's tables from others, such as `give the module a database of its own`.
   */
  readonly apart: string
  /** The SQL of schemas. Undefined if the engine's databases have none. */
  readonly schemas: SchemasSql | undefined
  /** Returns the problem of a connection string that no server accepts. Does not repeat any part of it. */
  readonly urlProblem: (url: URL) => FileProblem | undefined
  readonly addressOf: (url: URL, schema: string) => DatabaseAddress
  /**
   * Opens a session.
   *
   * @throws {MigrationError} if the connection fails.
   */
  readonly open: (options: ResolvedOptions, purpose: Purpose) => Promise<Session>
  /** Applies a version, after recovering from an earlier run. */
  readonly up: (step: Step, row: VersionRow, previous: AppliedVersion | undefined) => Promise<void>
  /** Rolls back a version. */
  readonly down: (step: Step, previous: AppliedVersion) => Promise<void>
  /**
   * Returns the state in which an earlier run left a version that runs again, and the point at which it
   * continues.
   */
  readonly resumes: (step: Step, row: AppliedVersion) => Recovery
  /**
   * Rejects a file that no longer matches its unfinished run.
   *
   * @throws {MigrationError} if a failed version's file can no longer be completed.
   */
  readonly refuseResumed: (
    step: Pick<Step, 'version' | 'name' | 'direction' | 'statements'>,
    row: AppliedVersion,
  ) => void
  /**
   * Returns true if nothing remains of a version whose up migration failed.
   *
   * @throws {MigrationError} if a part remains that only the up migration can finish.
   */
  readonly isNeverApplied: (step: Step, row: AppliedVersion) => Promise<boolean>
  /**
   * Returns true if the record alone shows that nothing remains, or false if the record is not sufficient.
   *
   * @throws {MigrationError} if a part remains that only the up migration can finish.
   */
  readonly leavesNothing: (row: AppliedVersion) => boolean
  /**
   * The effect of `down` on a failed version if the record is not sufficient. Never applies to a backfill.
   */
  readonly mayLeave: 'mayBeDone' | 'dropsIndex'
  /** Returns true if an interrupted rollback has undone so much that it must be finished. */
  readonly isUndone: (step: Step, row: AppliedVersion) => Promise<boolean>
  /**
   * Returns true if the record alone shows that the rollback must be finished, or undefined if the record is
   * not sufficient.
   */
  readonly isKnownUndone: (row: AppliedVersion) => boolean | undefined
  /** Finishes an interrupted rollback. */
  readonly finishDown: (step: Step, row: AppliedVersion) => Promise<void>
  /**
   * Returns the module's indexes that no query can use.
   *
   * @param rows - the versions that may have left such an index behind.
   */
  readonly unusableIndexes: (
    session: Session,
    rows: readonly AppliedVersion[],
  ) => Promise<readonly UnusableIndex[]>
  readonly scratch: ScratchSql
  readonly walk: WalkSql
  readonly effects: EngineEffects
  readonly foreign: ForeignSql
}

/** Finds versions in the schemas of a database. */
export interface SchemasSql {
  /** Selects the schemas that have a version table, as `name`. */
  readonly all: string
  /** Selects the names of the versions in a schema as `name`. */
  readonly versionsIn: (schema: string) => string
}

/** The SQL of the version table. */
export interface VersionTableSql {
  /** The columns and options for CREATE TABLE. */
  readonly definition: string
  /** The columns and options for CREATE TABLE of the table with the positions of backfills. */
  readonly backfills: string
  /** Selects `applied_at` as a string that does not depend on session settings. */
  readonly appliedAt: string
  /** The server's clock in UTC. */
  readonly now: string
  /** Returns the verb and the ending of an INSERT that replaces a row of the same version. */
  readonly replace: (columns: readonly string[]) => readonly [verb: string, ending: string]
  /** Returns a condition on `table_schema` with its values. */
  readonly inSchema: (schema: string) => readonly [condition: string, values: readonly string[]]
}

/** Finds and imports another tool's history. */
export interface ForeignSql {
  /**
   * Returns a query for the columns of tables as `schema_name`, `table_name` and `column_name`.
   *
   * @param schema - the schema of the module.
   */
  readonly columns: (schema: string) => readonly [sql: string, values: readonly string[]]
  /** Returns the command line that dumps the schema to stdout. It contains no password. */
  readonly dump: (session: Session, source: DumpSource) => Promise<string>
}

/** The source of a dump. */
export interface DumpSource {
  /** The connection string as a URL. */
  readonly url: URL
  /** The database's name. */
  readonly name: string
  /** The module's schema. Empty if the engine's databases have none. */
  readonly schema: string
  /** The tables to omit from the dump. */
  readonly tables: readonly string[]
}

/** Creates, finds and drops scratch databases. */
export interface ScratchSql {
  readonly create: (name: string) => string
  readonly drop: (name: string) => string
  /** Selects as `name` the databases whose name begins with a prefix, its only parameter. */
  readonly find: string
  /** Selects a row if the database contains a user's table, view, routine or schema. */
  readonly occupied: string
  /** Removes everything that was created in a database that was empty before. */
  readonly empty: (session: Session) => Promise<void>
  /**
   * Returns the objects that the engine keeps although objects that they read are missing, such as `view
   * report`. Undefined if the engine keeps none.
   */
  readonly broken: ((session: Session) => Promise<readonly string[]>) | undefined
  /**
   * Selects the database's contents without Ashlar's own tables: a row for each column, index, constraint,
   * trigger and so on, as `object` and `definition`.
   */
  readonly contents: string
  /** The remedy if the user may not create a database. */
  readonly right: string
}
