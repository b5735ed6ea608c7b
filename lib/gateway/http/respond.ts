import type { IncomingMessage, ServerResponse } from 'node:http'
import { compress as encode, preferredCoding } from './response-coding.js'

/** An HTTP response that is ready to be sent. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
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

/** Caches keep the response for this caller alone, unless the handler set `Cache-Control` itself. */
export function keepPrivate(response: ServerResponse): void {
  if (!response.hasHeader('cache-control')) response.setHeader('cache-control', 'private')
  if (response.hasHeader('vary')) addVary(response, 'Authorization')
  else response.setHeader('vary', 'Authorization')
}

const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Bytes below which compressing costs more than it saves. */
const COMPRESS_FROM = 1024
const COMPRESSIBLE = /^(?:text\/|application\/(?:json|xml|[a-z.+-]+\+(?:json|xml)))/

/** Sends the response; for HEAD only the headers. Headers already set on `response` stay. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  compress: boolean,
): Promise<void> {
  const length = body === undefined ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const coding =
    compress && length >= COMPRESS_FROM ? await compressed(request, response, headers, body ?? '') : undefined
  if (response.destroyed || response.headersSent) return
  const bytes = coding ?? body
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (status !== 304 && status !== 204) response.setHeader('content-length', coding?.length ?? length)
  if (bytes === undefined || request.method === 'HEAD') response.end()
  else response.end(bytes)
}

async function compressed(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): Promise<Uint8Array | undefined> {
  if (!COMPRESSIBLE.test(headers['content-type'] ?? '')) return undefined
  addVary(response, 'Accept-Encoding')
  const coding = preferredCoding(request.headers['accept-encoding'])
  if (coding === undefined) return undefined
  const bytes = await encode(coding, body)
  response.setHeader('content-encoding', coding)
  return bytes
}
