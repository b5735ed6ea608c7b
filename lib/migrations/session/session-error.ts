import type { DriverError, EngineFailures, SessionFailure } from './engine-failures.js'
import { hidePasswords } from '../../text/hide-passwords.js'

/**
 * An error of the server or the connection. It contains neither the connection string's password nor values,
 * so that it can be printed and stored. Sessions throw no other driver errors.
 */
export class SessionError extends Error {
  constructor(
    text: string,
    /** PostgreSQL's five-character code, MySQL's number, or Node's code for the connection. */
    readonly code: string,
    readonly failure: SessionFailure,
    /** The sessions that held the lock for which it waited. Undefined if unknown. */
    readonly blockers?: string,
  ) {
    super(text)
    this.name = 'SessionError'
  }
}

export function sessionError(error: unknown, failures: EngineFailures, url: string): SessionError {
  const { code, errno, message, detail } = error as DriverError
  const number = typeof errno === 'number' && errno > 0 ? String(errno) : typeof code === 'string' ? code : ''
  const more = failures.detailed.includes(number) && typeof detail === 'string' ? detail : ''
  const said = failures.withoutValues(message, number)
  const text = more === '' ? said : `${said}: ${more.replaceAll('\n', '; ')}`
  return new SessionError(
    hidePasswords(text === '' ? number : text, url),
    number,
    failures.failureOf(error as DriverError, number),
  )
}
