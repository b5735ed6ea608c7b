import type { ConnectError } from '@connectrpc/connect'
import { detailsOf } from '../../error-details.js'
import { AshlarError, CODES, httpHeadersOf, Internal } from '../../errors.js'
import type { ConnectPackage } from './load-connect.js'
import type { WireFormat } from './wire-format.js'

/**
 * Converts an error for the Connect protocols. For anything except an AshlarError, the message is just
 * `internal error`.
 */
export const toConnectError = (
  connect: ConnectPackage,
  thrown: unknown,
  { protocol, isEnveloped }: WireFormat,
): ConnectError => {
  const error = thrown instanceof AshlarError ? thrown : new Internal(thrown)
  const details = detailsOf(error).sent.map(({ desc, message }) => ({ desc, value: message }))
  // In the other protocols, the response has already begun with status 200.
  const headers = protocol === 'connect' && !isEnveloped ? httpHeadersOf(error) : undefined
  return new connect.ConnectError(error.wireMessage, CODES[error.code] as number, headers, details, error)
}
