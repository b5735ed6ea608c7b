import type { UniversalServerResponse } from '@connectrpc/connect/protocol'
import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { addVary, NOSNIFF } from '../../gateway/http/respond.js'
import { drained } from '../../gateway/streaming.js'

/**
 * Sends the response of a universal handler as fast as the client reads it. Headers already set on `response`
 * are kept.
 */
export const sendUniversal = async (
  response: ServerResponse,
  { status, header, body = NOTHING, trailer }: UniversalServerResponse,
): Promise<void> => {
  const chunks = body[Symbol.asyncIterator]()
  // Stops at once, because a client that has disconnected reads no further chunk.
  const stop = (): void => void chunks.return?.().catch(() => {})
  const isGone = (): boolean => response.destroyed
  if (isGone()) return stop()
  response.once('close', stop)
  response.statusCode = status
  for (const [name, value] of Object.entries(NOSNIFF)) response.setHeader(name, value)
  header?.forEach((value, name) => {
    if (name === 'vary') addVary(response, value)
    else response.setHeader(name, value)
  })
  let next = await chunks.next()
  if (next.done === true && trailer !== undefined && trailer.get('grpc-status') !== '0') {
    if (!isGone()) sendTrailersOnly(response, trailer)
    return
  }
  for (; next.done !== true; next = await chunks.next()) {
    if (isGone()) return
    if (!response.write(next.value)) await drained(response)
  }
  // Only gRPC over HTTP/2 has trailers. If the response has no body, they arrive only if the headers were
  // sent before.
  if (trailer !== undefined) {
    response.addTrailers(Object.fromEntries(trailer.has(TEXT) ? plainly(trailer) : trailer))
    response.flushHeaders()
  }
  response.end()
}

/**
 * Sends an error that occurs before the first message in one frame with the headers. A gRPC client retries a
 * call only if it received no response headers (gRFC A6). The compatibility layer of node:http2 would send a
 * second frame.
 */
export const sendTrailersOnly = (response: ServerResponse & Partial<WithStream>, trailer: Headers): void => {
  for (const [name, value] of trailer.has(TEXT) ? plainly(trailer) : trailer) response.setHeader(name, value)
  const { stream, statusCode } = response
  if (stream === undefined) response.end()
  else stream.respond({ ...response.getHeaders(), ':status': statusCode }, { endStream: true })
}

/** A response of node:http2 with its underlying stream. */
interface WithStream {
  readonly stream: ServerHttp2Stream
}

const NOTHING: AsyncIterable<Uint8Array> = (async function* () {})()

const TEXT = 'grpc-message'

/**
 * Encodes the status message for gRPC. The package escapes every character except letters and digits, but
 * grpc-js decodes only the characters that the protocol requires to be escaped.
 */
const plainly = (trailer: Headers): Headers => {
  const text = decodeURIComponent(trailer.get(TEXT) ?? '')
  const sent = new Headers(trailer)
  sent.set(TEXT, text.replaceAll(/[^ -~]+|%/gu, encodeURIComponent))
  return sent
}
