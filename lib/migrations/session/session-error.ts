import type { MigrationStop } from '../../errors.js'
import type { Dialect } from '../files/dialect.js'
import { redact } from './redact.js'

/** Why a statement of a session failed. `failed` is anything that the statement itself may be to blame for. */
export type SessionFailure = Extract<
  MigrationStop,
  'failed' | 'connection' | 'denied' | 'readOnly' | 'cancelled'
>

/**
 * What the server answered instead of a result, or that the connection is gone: without the connection string's password and
 * without values, so that it may be shown and stored. A session throws nothing else of the driver's.
 */
export class SessionError extends Error {
  constructor(
    text: string,
    /** PostgreSQL's five characters, MySQL's number, or what Node says of the connection. */
    readonly code: string,
    readonly failure: SessionFailure,
  ) {
    super(text)
    this.name = 'SessionError'
  }
}

/** Fields of the drivers' errors that are safe to read. The others repeat rows and statements. */
interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly severity?: unknown
  readonly fatal?: unknown
  readonly message: string
}

export function sessionError(error: unknown, dialect: Dialect, url: string): SessionError {
  const { code, errno, message } = error as DriverError
  const number = typeof errno === 'number' && errno > 0 ? String(errno) : typeof code === 'string' ? code : ''
  const text = message.replace(/^(Duplicate entry) '.*' (for key)/s, '$1 $2')
  return new SessionError(
    redact(text === '' ? number : text, url),
    number,
    failureFrom(error as DriverError, number, dialect),
  )
}

const DENIED = {
  postgres: ['42501'],
  // Command, column, routine and special rights; SUPER for triggers and functions with a binary log.
  mysql: ['1044', '1045', '1142', '1143', '1227', '1370', '1419', '1698'],
} as const
const READ_ONLY = { postgres: ['25006'], mysql: ['1792', '1836'] } as const
/** PostgreSQL: the connection, a shutdown or an administrator, a session that was idle or a transaction that was open for too long. */
const POSTGRES_GONE = /^08|^57P0[1235]|^25P0[34]/
/** MySQL: the server shuts down, the connection was killed, packets were cut off, nobody spoke for too long. */
const MYSQL_GONE = ['1053', '1080', '1158', '1159', '1160', '1161', '1927', '3169', '4031']

function failureFrom(error: DriverError, code: string, dialect: Dialect): SessionFailure {
  if ((DENIED[dialect] as readonly string[]).includes(code)) return 'denied'
  if ((READ_ONLY[dialect] as readonly string[]).includes(code)) return 'readOnly'
  if (dialect === 'mysql') {
    // The same number for any option of the server that stands in the way.
    if (code === '1290' && /read.only/i.test(error.message)) return 'readOnly'
    const isServers = typeof error.errno === 'number' && error.errno > 0
    return !isServers || error.fatal === true || MYSQL_GONE.includes(code) ? 'connection' : 'failed'
  }
  // What does not come from the server has no severity. Which one it is, the server says in its own language.
  return error.severity === undefined || POSTGRES_GONE.test(code) ? 'connection' : 'failed'
}
