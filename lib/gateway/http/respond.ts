import type { IncomingMessage, ServerResponse } from 'node:http'
import { compress as encode, preferredCoding } from './response-coding.js'

/** Response headers by lower-case name. */
export type ResponseHeaders = Record<string, string | number | string[]>

/** An HTTP response that is ready to be sent. */
export interface HttpResponse {
  readonly status: number
  /** Headers that depend on the body are added when it is sent. */
  readonly headers: ResponseHeaders
  readonly body: string | Uint8Array | undefined
}

/** Prevents browsers from guessing a type other than the declared one. */
export const NOSNIFF = { 'x-content-type-options': 'nosniff' } as const

/** Adds names of request headers on which the response depends to `Vary`, without duplicates. */
export function addVary(response: ServerResponse, names: string): void {
  for (const name of namesIn(names)) {
    const known = [response.getHeader('vary') ?? []].flat().flatMap((value) => namesIn(String(value)))
    const lower = known.map((each) => each.toLowerCase())
    if (!lower.includes('*') && !lower.includes(name.toLowerCase())) response.appendHeader('vary', name)
  }
}

/** Adds the name of a request header on which the response depends to its `Vary` header. */
export function varyBy(response: ServerResponse, headers: ResponseHeaders, name: string): void {
  const known = headers['vary']
  if (response.hasHeader('vary')) addVary(response, name)
  else if (known === undefined) headers['vary'] = name
  else if (!String(known).includes(name)) headers['vary'] = `${String(known)}, ${name}`
}

/** Marks the response as private to its caller for caches, unless the handler has set `Cache-Control`. */
export function keepPrivate(response: ServerResponse, headers: ResponseHeaders): void {
  if (!response.hasHeader('cache-control')) headers['cache-control'] ??= 'private'
  if (response.hasHeader('vary')) addVary(response, CALLER_AND_CODING)
  else headers['vary'] ??= CALLER_AND_CODING
}

/** Marks every further response as private, including errors. */
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

/** The size in bytes below which compression does not pay off. */
const COMPRESS_FROM = 1024
const COMPRESSIBLE = /^(?:text\/|application\/(?:json|xml|[a-z.+-]+\+(?:json|xml)))/

/** Sends the response, or only the headers for HEAD. Headers already set on `response` are kept. */
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
  // Writing all headers at once saves Node a table of them.
  response.writeHead(status, headers)
  if (method === 'HEAD' || length === 0) response.end()
  else response.end(body)
}
