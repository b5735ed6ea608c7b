import type { IncomingHttpHeaders } from 'node:http'

/** The headers of one connection, which are not forwarded (RFC 9110 section 7.6.1). */
const OF_A_HOP = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]

/** Without these the other side would not know what the request is for, or where it ends. */
const NEEDED = ['host', 'content-length']

/** Removes the headers of one connection, also those that `Connection` names. */
export function removeHopHeaders(headers: IncomingHttpHeaders): void {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  for (const name of [...OF_A_HOP, ...named]) if (!NEEDED.includes(name)) delete headers[name]
}

/** True if the body is coded for this connection in a way that is not undone here. */
export const isCoded = ({ 'transfer-encoding': coding }: IncomingHttpHeaders): boolean =>
  coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
