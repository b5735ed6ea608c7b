import { redactError } from './redact-error.js'

/**
 * What a database driver's error says without the values, statements and rows that drivers put on theirs. It keeps the
 * codes that say what went wrong, and the text where the database makes that of names alone.
 */
export class DriverFault extends Error {
  readonly code?: string | number
  readonly errno?: number
  readonly sqlState?: string
  /** The connection is gone. */
  readonly fatal?: true

  constructor(error: unknown) {
    const { cause: _cause, name: _name, ...codes } = redactError(error)
    super(safeMessage(error) ?? `the database answered ${codes.code ?? codes.errno ?? 'with an error'}`)
    this.name = 'DriverFault'
    Object.assign(this, codes)
    if ((error as Said | null)?.fatal === true) this.fatal = true
  }
}

/** A driver's error as one that may be logged or be a cause; anything else as it is. */
export function withoutValues(error: unknown): unknown {
  const drivers = driverErrorIn(error, 8)
  return drivers === undefined ? error : new DriverFault(drivers)
}

/** Fields of the errors of `pg`, `mysql2`, the SQLite engines, Node's sockets and TypeORM. */
interface Said {
  readonly code?: unknown
  readonly errno?: unknown
  readonly sqlState?: unknown
  readonly message?: unknown
  readonly severity?: unknown
  readonly syscall?: unknown
  readonly file?: unknown
  readonly fatal?: unknown
  readonly driverError?: unknown
  readonly parameters?: unknown
}

function driverErrorIn(error: unknown, depth: number): unknown {
  if (!(error instanceof Error) || error instanceof DriverFault) return undefined
  const { code, sqlState, severity, driverError, parameters } = error as Said
  if (driverError !== undefined && depth > 0) return driverErrorIn(driverError, depth - 1) ?? driverError
  const isDrivers =
    typeof sqlState === 'string' ||
    (typeof severity === 'string' && typeof code === 'string') ||
    (typeof code === 'string' && code.startsWith('SQLITE_')) ||
    parameters !== undefined
  return isDrivers ? error : undefined
}

/** SQLSTATE classes whose texts are made of names; 22 (data) and P0 (RAISE) repeat values, 42601 repeats the statement. */
const NAMES_ALONE = /^(?:08|23|28|3D|3F|40|42(?!601)|53|54|55|57|58)/
const RAISED = 'pl_exec.c'

/**
 * MySQL's and MariaDB's own texts that name columns, tables and constraints. By the number alone one cannot go: a trigger
 * may SIGNAL any number with any text.
 */
const NAME = /['`"][\w$.-]+['`"]/.source
const MYSQL = new RegExp(
  `^(?:${[
    `Access denied for user '[^']*'@'[^']*'(?: to database ${NAME}| \\(using password: (?:YES|NO)\\))?`,
    `Column ${NAME} cannot be null`,
    `Unknown database ${NAME}`,
    `Unknown column ${NAME} in '[\\w ]+'`,
    `Table ${NAME} doesn't exist`,
    'Lock wait timeout exceeded; try restarting transaction',
    'Deadlock found when trying to get lock; try restarting transaction',
    `(?:Out of range value|Data too long) for column ${NAME} at row \\d+`,
    `Field ${NAME} doesn't have a default value`,
    `Cannot (?:add or update a child|delete or update a parent) row: a foreign key constraint fails \\([\\w$\`., ()-]+\\)`,
    `Check constraint ${NAME} is violated\\.`,
    `CONSTRAINT ${NAME} failed for ${NAME}\\.${NAME}`,
  ].join('|')})$`,
)

/** The texts of SQLite itself; a trigger may raise any other. */
const SQLITE =
  /^(?:SQLITE_\w+: )?(?:(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY|PRIMARY KEY) constraint failed(?:: [\w.]+(?:, [\w.]+)*)?|no such (?:table|column|function): [\w.]+|table \w+ has no column named \w+|database (?:table )?is locked|database or disk is full|disk I\/O error|interrupted)/

/** What the drivers say by themselves about a connection. */
const CONNECTION =
  /^(?:Connection (?:terminated|lost|ended)|Client has encountered a connection error|timeout exceeded|Can't add new command)/

function safeMessage(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { message, code, sqlState, severity, syscall, file } = error as Error & Said
  if (typeof severity === 'string' && typeof code === 'string')
    return NAMES_ALONE.test(code) && file !== RAISED ? message : undefined
  if (typeof sqlState === 'string') return MYSQL.test(message) ? message : undefined
  if (typeof syscall === 'string' || CONNECTION.test(message)) return message
  return SQLITE.exec(message)?.[0]
}
