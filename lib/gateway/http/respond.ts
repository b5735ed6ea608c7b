import type { IncomingMessage, ServerResponse } from 'node:http'
import { compress as encode, preferredCoding } from './response-coding.js'

/** Headers by their names in lower case. */
export type ResponseHeaders = Record<string, string | number | string[]>

/** An HTTP response that is ready to be sent. */
export interface HttpResponse {
  readonly status: number
  /** Sending adds what follows from the body. */
  readonly headers: ResponseHeaders
  readonly body: string | Uint8Array | undefined
}

/** Keeps a browser from guessing another type than the one declared. */
export const NOSNIFF = { 'x-content-type-options': 'nosniff' } as const

/** Adds request headers that the response depends on to `Vary`, each once. Existing names stay. */
export function addVary(response: ServerResponse, names: string): void {
  for (const name of namesIn(names)) {
    const known = [response.getHeader('vary') ?? []].flat().flatMap((value) => namesIn(String(value)))
    const lower = known.map((each) => each.toLowerCase())
    if (!lower.includes('*') && !lower.includes(name.toLowerCase())) response.appendHeader('vary', name)
  }
}

/** Adds the name of a request header that a response depends on to the headers that are sent with it. */
export function varyBy(response: ServerResponse, headers: ResponseHeaders, name: string): void {
  const known = headers['vary']
  if (response.hasHeader('vary')) addVary(response, name)
  else if (known === undefined) headers['vary'] = name
  else if (!String(known).includes(name)) headers['vary'] = `${String(known)}, ${name}`
}

/** Makes caches keep the response for this caller alone, unless the handler set `Cache-Control` itself. */
export function keepPrivate(response: ServerResponse, headers: ResponseHeaders): void {
  if (!response.hasHeader('cache-control')) headers['cache-control'] ??= 'private'
  if (response.hasHeader('vary')) addVary(response, CALLER_AND_CODING)
  else headers['vary'] ??= CALLER_AND_CODING
}

/** The same for whatever is sent next, an error too. */
export function keepAllPrivate(response: ServerResponse): void {
  if (!response.hasHeader('cache-control')) response.setHeader('cache-control', 'private')
  addVary(response, CALLER_AND_CODING)
}

const CALLER_AND_CODING = 'Authorization, Accept-Encoding'

const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Bytes below which compressing costs more than it saves. */
const COMPRESS_FROM = 1024
const COMPRESSIBLE = /^(?:text\/|application\/(?:json|xml|[a-z.+-]+\+(?:json|xml)))/

/** Sends the response; for HEAD only the headers. Headers already set on `response` stay. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body = '' }: HttpResponse,
  compress: boolean,
): void | Promise<void> {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (compress && length >= COMPRESS_FROM && COMPRESSIBLE.test(String(headers['content-type'] ?? ''))) {
    varyBy(response, headers, 'Accept-Encoding')
    const coding = preferredCoding(request.headers['accept-encoding'])
    if (coding !== undefined)
      return encode(coding, body).then((encoded) => {
        headers['content-encoding'] = coding
        end(request, response, { status, headers, body: encoded }, encoded.length)
      })
  }
  end(request, response, { status, headers, body }, length)
}

function end(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  length: number,
): void {
  if (response.destroyed || response.headersSent) return
  if (status !== 304 && status !== 204) headers['content-length'] = length
  // All headers at once: Node then keeps no table of them.
  response.writeHead(status, headers)
  if (method === 'HEAD' || length === 0) response.end()
  else response.end(body)
}
