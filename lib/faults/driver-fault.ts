import { isInstance, propertyOf, readable } from './readable.js'
import { redactError } from './redact-error.js'
import { refusedColumnOf } from './refused-column.js'
import { type ViolatedIndex, violatedIndexOf } from './violated-index.js'
import { type ViolatedReference, violatedReferenceOf } from './violated-reference.js'

/**
 * A database driver's error without the values, statements and rows that drivers attach. It keeps the error
 * codes, and the message if the database builds it from names only.
 */
export class DriverFault extends Error {
  readonly code?: string | number
  readonly errno?: number
  readonly sqlState?: string
  /** True if the connection was lost. */
  readonly fatal?: true
  readonly violatedIndex?: ViolatedIndex
  readonly violatedReference?: ViolatedReference
  /** The column that cannot contain a written value. */
  readonly refusedColumn?: string

  constructor(error: unknown) {
    const { cause: _cause, name: _name, ...codes } = redactError(error)
    super(safeMessage(error) ?? `the database returned ${codes.code ?? codes.errno ?? 'an error'}`)
    this.name = 'DriverFault'
    Object.assign(this, codes)
    if (propertyOf(error, 'fatal') === true) this.fatal = true
    const violated = violatedIndexOf(error)
    if (violated !== undefined) this.violatedIndex = violated
    const reference = violatedReferenceOf(error)
    if (reference !== undefined) this.violatedReference = reference
    const refused = refusedColumnOf(error)
    if (refused !== undefined) this.refusedColumn = refused
  }
}

/**
 * Converts a driver's error so that it can be logged or used as a cause. Any other error is returned
 * unchanged if it is readable.
 */
export function withoutValues(error: unknown): unknown {
  const drivers = driverErrorIn(error, 8)
  return drivers === undefined ? readable(error) : new DriverFault(drivers)
}

/**
 * Returns the parts of a thrown value that may be logged, as a plain object, so that no logger reads further
 * properties. It contains nothing that a driver attached, and nothing of a value that is not an error.
 */
export function errorForLog(error: unknown): {
  readonly name: string
  readonly message?: string
  readonly stack?: string
  readonly field?: string
} {
  const safe = withoutValues(error)
  if (!(safe instanceof Error)) return { name: typeof error }
  const { name, message, stack } = safe
  const field = propertyOf(safe, 'field')
  return {
    ...{ name, message },
    ...(stack !== undefined && { stack }),
    ...(typeof field === 'string' && field !== '' && { field }),
  }
}

/** Finds an error of `pg`, `mysql2`, an SQLite engine or TypeORM by its fields. */
function driverErrorIn(error: unknown, depth: number): unknown {
  if (!isInstance(error, Error) || isInstance(error, DriverFault)) return undefined
  const of = (name: string) => propertyOf(error, name)
  const driverError = of('driverError')
  if (driverError !== undefined && depth > 0) return driverErrorIn(driverError, depth - 1) ?? driverError
  const code = of('code')
  const isDrivers =
    typeof of('sqlState') === 'string' ||
    (typeof of('severity') === 'string' && typeof code === 'string') ||
    (typeof code === 'string' && code.startsWith('SQLITE_')) ||
    of('parameters') !== undefined
  return isDrivers ? error : undefined
}

/**
 * SQLSTATE classes whose messages contain only names. Classes 22 (data) and P0 (RAISE) repeat values, and
 * 42601 repeats the statement.
 */
const NAMES_ONLY = /^(?:08|23|28|3D|3F|40|42(?!601)|53|54|55|57|58)/
const RAISED = 'pl_exec.c'

/**
 * Messages of MySQL and MariaDB that name columns, tables and constraints. The error number is not
 * sufficient, because a trigger may SIGNAL any number with any message.
 */
const NAME = /['`"][\w$.-]+['`"]/.source
const MYSQL = new RegExp(
  `^(?:${[
    `Access denied for user '[^']*'@'[^']*'(?: to database ${NAME}| \\(using password: (?:YES|NO)\\))?`,
    `Column ${NAME} cannot be null`,
    `Unknown database ${NAME}`,
    `Unknown column ${NAME} in '[\\w ]+'`,
    `Table ${NAME} doesn't exist`,
    `The table ${NAME} is full`,
    'Too many connections',
    'Lock wait timeout exceeded; try restarting transaction',
    'Deadlock found when trying to get lock; try restarting transaction',
    `(?:Out of range value|Data too long) for column ${NAME} at row \\d+`,
    `Field ${NAME} doesn't have a default value`,
    `Cannot (?:add or update a child|delete or update a parent) row: a foreign key constraint fails \\([\\w$\`., ()-]+\\)`,
    `Check constraint ${NAME} is violated\\.`,
    `CONSTRAINT ${NAME} failed for ${NAME}\\.${NAME}`,
  ].join('|')})$`,
)

/** Messages of SQLite itself. A trigger may raise any other message. */
const SQLITE =
  /^(?:SQLITE_\w+: )?(?:(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY|PRIMARY KEY) constraint failed(?:: [\w.]+(?:, [\w.]+)*)?|no such (?:table|column|function): [\w.]+|table \w+ has no column named \w+|database (?:table )?is locked|database or disk is full|disk I\/O error|interrupted)/

/** Drivers' own messages about a connection. */
const CONNECTION =
  /^(?:Connection (?:terminated|lost|ended)|Client has encountered a connection error|timeout exceeded|Can't add new command)/

/** Longer messages contain more than names, and could overflow the stack of a regular expression. */
const LONGEST_MESSAGE = 2000

function safeMessage(error: unknown): string | undefined {
  if (!isInstance(error, Error)) return undefined
  const of = (name: string) => propertyOf(error, name)
  const [message, code] = [of('message'), of('code')]
  if (typeof message !== 'string' || message.length > LONGEST_MESSAGE) return undefined
  if (typeof of('severity') === 'string' && typeof code === 'string')
    return NAMES_ONLY.test(code) && of('file') !== RAISED ? message : undefined
  if (typeof of('sqlState') === 'string') return MYSQL.test(message) ? message : undefined
  if (typeof of('syscall') === 'string' || CONNECTION.test(message)) return message
  return SQLITE.exec(message)?.[0]
}
