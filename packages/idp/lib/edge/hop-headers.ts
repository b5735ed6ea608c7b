import type { IncomingHttpHeaders } from 'node:http'

/** The headers of one connection, which are not forwarded (RFC 9110 section 7.6.1). */
const OF_A_HOP = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]

/**
 * Headers that are always forwarded, because the recipient needs them to identify and delimit the request.
 */
const NEEDED = ['host', 'content-length']

/** Removes the headers of one connection, including those that `Connection` names. */
export function removeHopHeaders(headers: IncomingHttpHeaders): void {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  for (const name of [...OF_A_HOP, ...named]) if (!NEEDED.includes(name)) delete headers[name]
}

/** Returns true if the body has a transfer coding that this proxy does not decode. */
export const isCoded = ({ 'transfer-encoding': coding }: IncomingHttpHeaders): boolean =>
  coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
