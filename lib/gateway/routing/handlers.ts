import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { InvalidArgument } from '../../errors.js'
import { OwnStatusError } from '../http/own-status-error.js'
import { type HttpHandler, isNodeHandler, type NodeHandler } from './mux.js'
import { schemeOf, targetOf } from './target.js'

/** Runs a mounted handler. Rethrows an error that it throws before it has responded. */
export async function runHandler(
  handler: HttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (isNodeHandler(handler)) return runNode(handler, request, response)
  const fetched = await handler(toFetchRequest(request, signal))
  await sendFetchResponse(request, response, fetched)
}

function runNode(handler: NodeHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown): void => reject(error instanceof Error ? error : noSuchPath(error))
    response.once('close', resolve)
    new Promise<void>((settle) => settle(handler(request, response, next))).catch(reject)
  })
}

/** Returns the error for `next()`, and for `next(value)` if the value is not an error. */
const noSuchPath = (reason: unknown): Error =>
  reason === undefined || reason === null
    ? new OwnStatusError(404, 'NOT_FOUND', 'no such path')
    : new TypeError('a handler failed', { cause: reason })

function toFetchRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers: given, headersDistinct, url = '/' } = request
  if (NO_REQUEST.has(method.toUpperCase()))
    throw new OwnStatusError(405, 'UNIMPLEMENTED', `${method} is not supported`)
  const headers = new Headers()
  for (const [name, values] of Object.entries(headersDistinct))
    for (const value of values ?? []) headers.append(name, value)
  // A surrounding gateway or proxy may have set the id, which is then missing in `rawHeaders`.
  const requestId = given['x-request-id']
  if (typeof requestId === 'string') headers.set('x-request-id', requestId)
  const bodyless = method === 'GET' || method === 'HEAD'
  return new Request(absolute(request, given.host ?? 'localhost', url), {
    method,
    headers,
    signal,
    ...(bodyless ? {} : { body: Readable.toWeb(request) as globalThis.ReadableStream, duplex: 'half' }),
  } as RequestInit)
}

/** Methods that the Fetch standard forbids in a `Request`. Over HTTP/2, clients can send any method. */
const NO_REQUEST: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** Matches a host and port without characters that begin another part of a URL. */
const HOST = /^[^\s/?#@\\]+$/

function absolute(request: IncomingMessage, host: string, url: string): URL {
  const scheme = schemeOf(request)
  const { path, query } = targetOf(url)
  if (!HOST.test(host)) throw notAHost()
  try {
    return new URL(`${scheme}://${host}${path}${query === '' ? '' : `?${query}`}`)
  } catch {
    throw notAHost()
  }
}

const notAHost = (): InvalidArgument => new InvalidArgument('', 'the Host header is not a valid host')

async function sendFetchResponse(
  request: IncomingMessage,
  response: ServerResponse,
  fetched: Response,
): Promise<void> {
  response.statusCode = fetched.status
  for (const [name, value] of fetched.headers) if (name !== 'set-cookie') response.setHeader(name, value)
  const cookies = fetched.headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  if (fetched.body === null || request.method === 'HEAD') {
    response.end()
    return
  }
  await pipeline(Readable.fromWeb(fetched.body as ReadableStream), response)
}
