import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  createRegistry,
  type DescFile,
  type DescMethod,
  type Message,
  type Registry,
} from '@bufbuild/protobuf'
import { AshlarError, InvalidArgument } from '../errors.js'
import type { Dispatcher, Incoming } from '../server/call.js'
import { type Binding, routesOf } from './bindings.js'
import { hasBody, readBody } from './body.js'
import { etagHeader, isKnown } from './conditional.js'
import { applyCors, checkCors, type CorsOptions } from './cors.js'
import { errorAnswer } from './error-body.js'
import { runHandler } from './handlers.js'
import { HttpError } from './http-error.js'
import { ignoredMaskHeader } from './ignored-mask.js'
import { incomingOf } from './incoming.js'
import { forwardedNames } from './metadata.js'
import { GatewayMux } from './mux.js'
import { isProbe, probe, type ReadinessResult } from './probes.js'
import { type Answer, send } from './respond.js'
import type { Match, RouteTable } from './routes.js'
import { framingOf, sendStream } from './streaming.js'
import { type Target, targetOf } from './target.js'
import { toContent, toRequest } from './transcode.js'
import { registryOf } from './type-registry.js'
import { type IgnoredPath, sortMask, type UpdateMaskMode } from './update-mask.js'

/** Where the gateway reports what nobody else would hear of. */
export interface GatewayLogger {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface GatewayOptions {
  readonly dispatcher: Dispatcher
  /** Every registered method; those with `google.api.http` get routes. */
  readonly methods: () => readonly DescMethod[]
  /** Runs the readiness checks of `/readyz`. */
  readonly readiness: () => Promise<readonly ReadinessResult[]>
  /** Default `spec`. */
  readonly updateMask?: UpdateMaskMode
  /** Bytes of a body, after inflation. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** Whether `account-id`, `subject` and `groups` are left out, as they must be where tokens are verified. Default false. */
  readonly dropIdentityHeaders?: boolean
  /** More request headers that become metadata. */
  readonly forwardHeaders?: readonly string[]
  /** More response metadata that become headers, beside `x-request-id` and `x-idempotent-replay`. */
  readonly responseHeaders?: readonly string[]
  /** Compresses answers of 1 KiB and more for who accepts it. Default true. */
  readonly compress?: boolean
  readonly cors?: CorsOptions
  readonly logger?: GatewayLogger
  /** Hears of every update whose mask was partly ignored, for a counter. */
  readonly onIgnoredMask?: (method: DescMethod, paths: readonly string[]) => void
}

/** What an Express-like application hands on with. */
type Next = (error?: unknown) => void

const NO_BODY = Buffer.alloc(0)
const DEFAULT_MAX_BODY = 1024 * 1024

/**
 * The services spoken in HTTP/JSON, in the process of the chain.
 *
 * `new Gateway(options)`, then `prepare()` before anything is bound (it throws what is wrong with the routes), then
 * `listener` goes to `createHttpServer(listener, options)` of `http-server.ts`, to any `node:http` server, or to
 * `app.use(gateway.listener)`, where it hands on what it has no route for.
 */
export class Gateway {
  readonly mux = new GatewayMux()
  readonly #options: GatewayOptions
  readonly #forwarded: readonly string[]
  readonly #responseHeaders: readonly string[]
  #routes: RouteTable<Binding> | undefined
  #registry: Registry | undefined

  constructor(options: GatewayOptions) {
    if (options.cors !== undefined) checkCors(options.cors)
    this.#options = options
    this.#forwarded = forwardedNames(options.dropIdentityHeaders === true, options.forwardHeaders)
    this.#responseHeaders = ['x-request-id', 'x-idempotent-replay', ...(options.responseHeaders ?? [])]
  }

  /**
   * Compiles the routes of what is registered.
   * @throws DeclarationError with every rule that cannot be served.
   */
  prepare(): void {
    const methods = this.#options.methods()
    this.#routes = routesOf(methods)
    this.#registry = registryOf(methods)
  }

  /** Answers one request; never throws. */
  readonly listener = (request: IncomingMessage, response: ServerResponse, next?: Next): void => {
    const controller = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) controller.abort()
    })
    this.#serve(request, response, controller.signal, next).catch((thrown: unknown) =>
      this.#fail(request, response, thrown),
    )
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
    next?: Next,
  ): Promise<void> {
    const target = targetOf(request.url ?? '/')
    const httpMethod = request.method ?? 'GET'
    if (isProbe(target.path))
      return await this.#send(
        request,
        response,
        await probe(target.path, httpMethod, this.#options.readiness),
      )
    const handler = this.mux.find(target.path)
    if (handler !== undefined) return await runHandler(handler, request, response, signal)
    if (this.#routes === undefined) this.prepare()
    const found = this.#routes?.find(httpMethod === 'HEAD' ? 'GET' : httpMethod, target.path)
    if (found === undefined && next !== undefined) return next()
    if (httpMethod === 'OPTIONS' || this.#options.cors !== undefined) {
      const methods = this.#methodsOf(target.path)
      const { cors } = this.#options
      const isPreflight = cors !== undefined && applyCors(cors, request, response, methods)
      if (isPreflight || (httpMethod === 'OPTIONS' && found !== undefined && !('match' in found)))
        return await this.#send(request, response, {
          status: 204,
          headers: { allow: methods.join(', ') },
          body: undefined,
        })
    }
    if (found === undefined) throw new HttpError(404, 'NOT_FOUND', 'no such path')
    if (!('match' in found)) throw notAllowed(this.#methodsOf(target.path))
    await this.#call(found.match, target, request, response, signal)
  }

  async #call(
    { target: binding, segments }: Match<Binding>,
    { query }: Target,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { dispatcher, maxBodyBytes = DEFAULT_MAX_BODY } = this.#options
    const { headers } = request
    const isStream = binding.method.methodKind === 'server_streaming'
    if (isStream && request.method === 'HEAD') throw notAllowed([binding.httpMethod])
    const body = hasBody(request) ? await readBody(request, maxBodyBytes) : NO_BODY
    const message = toRequest(
      binding,
      { segments, query, body, contentType: headers['content-type'] },
      this.#types,
    )
    const ignored = this.#sortMask(binding, message, request, response)
    const incoming = incomingOf(
      binding,
      request,
      signal,
      this.#forwarded,
      ignored.map(({ path }) => path),
    )
    if (headers['if-none-match'] !== undefined && request.method !== 'GET' && request.method !== 'HEAD')
      throw new InvalidArgument('', 'If-None-Match is understood on GET and HEAD only')
    const copyHeaders = (): void => this.#copyHeaders(incoming, response)
    try {
      if (isStream) {
        const framing =
          binding.method.output.typeName === 'google.api.HttpBody' ? 'raw' : framingOf(headers.accept)
        const answers = dispatcher.stream(incoming, only(message))
        await sendStream(
          response,
          answers,
          framing,
          (each) => toContent(binding, each, this.#types),
          copyHeaders,
        )
        return
      }
      const answer = await dispatcher.unary(incoming, message)
      const content = toContent(binding, answer, this.#types)
      const etag = etagHeader(incoming.trailers.get('etag'))
      copyHeaders()
      await this.#send(request, response, unaryAnswer(content, etag, headers['if-none-match']))
    } catch (thrown) {
      if (!response.headersSent) copyHeaders()
      throw thrown
    } finally {
      if (ignored.length > 0) this.#reportIgnored(incoming, ignored)
    }
  }

  #sortMask(
    { mask }: Binding,
    message: Message,
    request: IncomingMessage,
    response: ServerResponse,
  ): readonly IgnoredPath[] {
    if (mask === undefined) return []
    const isStrict = /(?:^|[,;\s])handling\s*=\s*"?strict\b/i.test(String(request.headers.prefer ?? ''))
    if (isStrict) response.setHeader('preference-applied', 'handling=strict')
    const ignored = sortMask(message, mask, isStrict ? 'strict' : (this.#options.updateMask ?? 'spec'))
    if (ignored.length > 0) response.setHeader('x-ignored-update-mask', ignoredMaskHeader(ignored))
    return ignored
  }

  #reportIgnored({ method, headers }: Incoming, ignored: readonly IgnoredPath[]): void {
    const paths = ignored.map(({ path }) => path)
    this.#options.onIgnoredMask?.(method, paths)
    this.#options.logger?.warn(
      { method: `${method.parent.typeName}/${method.name}`, requestId: headers.get('x-request-id'), ignored },
      'update_mask paths were ignored',
    )
  }

  #copyHeaders({ headers }: Incoming, response: ServerResponse): void {
    for (const name of this.#responseHeaders) {
      const values = headers.getAll(name).filter((value) => /^[\t\x20-\x7e]*$/.test(value))
      if (values.length > 0) response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values)
    }
  }

  /** Methods of a path, as `Allow` lists them. */
  #methodsOf(path: string): readonly string[] {
    const found = this.#routes?.find('', path)
    const known =
      found !== undefined && 'allow' in found ? found.allow.filter((method) => method !== '*') : []
    return [...new Set(['OPTIONS', ...known, ...(known.includes('GET') ? ['HEAD'] : [])])].sort()
  }

  get #types(): Registry {
    return (this.#registry ??= registryOf(this.#options.methods()))
  }

  #send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    return send(request, response, answer, this.#options.compress ?? true)
  }

  #fail(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
    if (!(thrown instanceof AshlarError))
      this.#options.logger?.error({ error: thrown }, 'the gateway failed on a request')
    if (response.headersSent) {
      response.destroy()
      return
    }
    send(request, response, errorAnswer(thrown), false).catch(() => response.destroy())
  }
}

function unaryAnswer(
  { contentType, body }: { readonly contentType: string; readonly body: string | Uint8Array },
  etag: string | undefined,
  ifNoneMatch: string | undefined,
): Answer {
  const tagged = etag === undefined ? {} : { etag }
  if (isKnown(ifNoneMatch, etag)) return { status: 304, headers: tagged, body: undefined }
  return {
    status: 200,
    headers: { 'content-type': contentType, 'x-content-type-options': 'nosniff', ...tagged },
    body,
  }
}

const notAllowed = (methods: readonly string[]): HttpError =>
  new HttpError(405, 'UNIMPLEMENTED', 'the path does not answer this method', { allow: methods.join(', ') })

/** eslint wants no async generator without await; a single request is a stream of one. */
async function* only(message: Message): AsyncIterable<Message> {
  yield await Promise.resolve(message)
}
