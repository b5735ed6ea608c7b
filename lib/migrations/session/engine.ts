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
  /** `shop`. */
  readonly name: string
  /** `db.internal:5432`, or the path of a socket. */
  readonly server: string
  /** The schema of the module; PostgreSQL only. */
  readonly schema?: string
}

/** The purpose of a session. A session that reads changes no settings. */
export type Purpose = 'change' | 'read'

/** Everything about migrations that differs between the database engines. */
export interface Engine extends EngineFiles {
  readonly syntax: Syntax
  readonly lint: EngineLint
  readonly failures: EngineFailures
  readonly versionTable: VersionTableSql
  /** The schemes of connection strings for this engine, without `://`. */
  readonly schemes: readonly string[]
  /** True if DDL is part of its transaction. */
  readonly hasTransactionalDdl: boolean
  /** The schema in which the files run; empty for the database of the connection string. */
  readonly schemaOf: (said: string | undefined, module: string | undefined) => string
  /** The problems of the schema in the options. */
  readonly schemaProblems: (said: string | undefined, schema: string) => readonly FileProblem[]
  /**
   * The location of a module's versions, such as `in the schema inventory; --module and --schema name another
   * one`.
   */
  readonly placeOf: (schema: string) => string
  /**
   * The requirement for keeping a module's tables apart from others: `give the module a database of its own`.
   */
  readonly apart: string
  /** Undefined where a database has no schemas. */
  readonly schemas: SchemasSql | undefined
  /** Why a connection string cannot be used, whatever its server; it repeats nothing of the string. */
  readonly urlProblem: (url: URL) => FileProblem | undefined
  readonly addressOf: (url: URL, schema: string) => DatabaseAddress
  /** @throws {MigrationError} without a connection. */
  readonly open: (options: ResolvedOptions, purpose: Purpose) => Promise<Session>
  /** Applies a version, after recovering from an earlier run. */
  readonly up: (step: Step, row: VersionRow, previous: AppliedVersion | undefined) => Promise<void>
  /** Rolls a version back. */
  readonly down: (step: Step, previous: AppliedVersion) => Promise<void>
  /** The state in which an earlier run left a version that runs again, and where it continues. */
  readonly resumes: (step: Step, row: AppliedVersion) => Recovery
  /** @throws {MigrationError} when the file of a version that failed can no longer be run to its end. */
  readonly refuseResumed: (
    step: Pick<Step, 'version' | 'name' | 'direction' | 'statements'>,
    row: AppliedVersion,
  ) => void
  /**
   * True if no part is left of a version whose up migration failed.
   * @throws {MigrationError} if a part is left that only the up migration can finish.
   */
  readonly isNeverApplied: (step: Step, row: AppliedVersion) => Promise<boolean>
  /**
   * The same from the record alone; false if that is not enough.
   * @throws {MigrationError} if a part is left that only the up migration can finish.
   */
  readonly leavesNothing: (row: AppliedVersion) => boolean
  /** The handling by `down` of such a version if the record is not enough; never of a backfill. */
  readonly mayLeave: 'mayBeDone' | 'dropsIndex'
  /** True if an interrupted rollback has undone so much that it has to be finished. */
  readonly isUndone: (step: Step, row: AppliedVersion) => Promise<boolean>
  /** The same by what is recorded alone, and undefined where that does not tell. */
  readonly isKnownUndone: (row: AppliedVersion) => boolean | undefined
  /** Finishes an interrupted rollback. */
  readonly finishDown: (step: Step, row: AppliedVersion) => Promise<void>
  /**
   * Indexes of the module that no query can use. @param rows - the versions, some of which may have left one
   * behind.
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

/** The location of versions in a database. */
export interface SchemasSql {
  /** Selects the schemas that have a version table, as `name`. */
  readonly all: string
  /** Selects the versions that a schema has, as `name`. */
  readonly versionsIn: (schema: string) => string
}

/** The version table in the engine's SQL. */
export interface VersionTableSql {
  /** Columns and options for CREATE TABLE. */
  readonly definition: string
  /** The same for the table of the positions of backfills. */
  readonly backfills: string
  /** `applied_at` as text that does not depend on session settings. */
  readonly appliedAt: string
  /** The server's clock in UTC. */
  readonly now: string
  /** Verb and ending of the INSERT that replaces a row of the same version. */
  readonly replace: (columns: readonly string[]) => readonly [verb: string, ending: string]
  /** A condition on `table_schema` for the schema, with its values. */
  readonly inSchema: (schema: string) => readonly [condition: string, values: readonly string[]]
}

/** SQL for finding another tool's history, and for taking it over. */
export interface ForeignSql {
  /**
   * Selects the columns of tables as `schema_name`, `table_name` and `column_name`. @param schema - of the
   * module.
   */
  readonly columns: (schema: string) => readonly [sql: string, values: readonly string[]]
  /** The command line that dumps the schema to stdout. It has no password in it. */
  readonly dump: (session: Session, source: DumpSource) => Promise<string>
}

/** The source of a dump. */
export interface DumpSource {
  /** The connection string. */
  readonly url: URL
  /** Of the database. */
  readonly name: string
  /** Of the module; empty where a database has no schemas. */
  readonly schema: string
  /** The tables that the dump leaves out. */
  readonly tables: readonly string[]
}

/** Databases that a comparison makes for itself. */
export interface ScratchSql {
  readonly create: (name: string) => string
  readonly drop: (name: string) => string
  /** Selects, as `name`, the names of databases that begin with a prefix, which is its only value. */
  readonly find: string
  /** Selects a row where the database has a table, a view, a routine or a schema of its own. */
  readonly occupied: string
  /** Takes out whatever was made in a database that was empty. */
  readonly empty: (session: Session) => Promise<void>
  /**
   * The objects that the engine keeps although what they read is missing, such as `view report`; undefined if
   * it keeps none.
   */
  readonly broken: ((session: Session) => Promise<readonly string[]>) | undefined
  /**
   * Selects what is in the database, but for the runner's own tables: a row for each column, index,
   * constraint, trigger and so on, as `object` and `definition`.
   */
  readonly contents: string
  /** The remedy if a user may not create a database. */
  readonly right: string
}
