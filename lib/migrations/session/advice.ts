import type { ResolvedOptions } from './options.js'
import { VERSION_TABLE } from '../files/names.js'
import type { SessionFailure } from './session-error.js'

/** What to do about a statement that failed; empty when only the file that it stands in can tell. */
export function adviceFor(
  failure: SessionFailure,
  code: string,
  options: ResolvedOptions,
  purpose: 'read' | 'change' = 'change',
): string {
  const { lockTimeoutMs, statementTimeoutMs } = options
  if (failure === 'denied') return rights(options, purpose)
  if (failure === 'readOnly') return WRITABLE[options.dialect]
  if (failure === 'connection')
    return 'The connection to the server is lost: somebody ended the session, or the server or the network went away'
  if (failure === 'cancelled') return 'The run was cancelled, and the server has stopped the statement'
  if (code === '55P03' || code === '1205')
    return `Another session held a lock for longer than the lock timeout of ${lockTimeoutMs} ms: run again when it has ended`
  if (code === '57014' || code === '1317' || code === '1969')
    return `It was ended by the statement timeout of ${statementTimeoutMs} ms, or by somebody: raise the timeout for this module, or do it in smaller steps`
  return ''
}

const WRITABLE = {
  postgres:
    'The database takes no writes: hand over the address of the primary, or turn default_transaction_read_only off for this database and user',
  mysql:
    'The server takes no writes: hand over the address of the primary, or turn read_only and transaction_read_only off',
} as const

function rights({ dialect, schema }: ResolvedOptions, purpose: 'read' | 'change'): string {
  const lacking = 'The user of the connection string lacks a right'
  if (dialect === 'mysql')
    return purpose === 'read'
      ? `${lacking}: grant it SELECT on ${VERSION_TABLE}`
      : `${lacking}: grant it ALL PRIVILEGES on the database, or connect as a user that has them`
  return purpose === 'read'
    ? `${lacking}: grant it USAGE on schema ${schema} and SELECT on ${schema}.${VERSION_TABLE}`
    : `${lacking}: connect as the owner of schema ${schema} and its tables, or grant it USAGE and CREATE on the schema` +
        ' (CREATE on the database while the schema is not there)'
}
