import type { IncomingMessage, ServerResponse } from 'node:http'
import { AshlarError } from '../errors.js'
import { errorForLog } from '../faults/driver-fault.js'
import { Caller } from '../call.js'
import { UnauthenticatedBytes } from '../bounds/unauthenticated-bytes.js'
import { type Binding, routesOf } from './routing/bindings.js'
import { call, type CallSetup } from './gateway-call.js'
import type { ExactPath } from './exact-path.js'
import { sendContinue } from './http/continue.js'
import { applyCors, checkCors, type KnownHeaders } from './http/cors.js'
import { errorResponse } from './http/error-body.js'
import type { GatewayOptions } from './gateway-options.js'
import { runHandler } from './routing/handlers.js'
import { OwnStatusError } from './http/own-status-error.js'
import { identify } from './http/identify-request.js'
import { forwardedNames, PREFIXED_HEADERS, sentNames, takePrefixed } from './http/metadata-of.js'
import { GatewayMux } from './routing/mux.js'
import { matchedRoutes } from './routing/matched-route.js'
import { normalPath } from './routing/normal-path.js'
import { isProbe, probe } from './http/probes.js'
import { send } from './http/respond.js'
import type { RouteTable } from './routing/route-table.js'
import { type Target, targetOf } from './routing/target.js'
import { registryOf } from './json/type-registry.js'

export type { GatewayLogger, GatewayOptions } from './gateway-options.js'

/** Passes a request on, in Express and similar frameworks. */
type Next = (error?: unknown) => void

/** The parts that are computed after all methods are registered. */
interface Prepared extends CallSetup {
  readonly routes: RouteTable<Binding>
}

/**
 * Serves methods over HTTP/JSON by passing calls to `options.dispatcher`, which runs them in this process or
 * forwards them to another one.
 *
 * Create it with `new Gateway(options)` and call `prepare()` before you listen. Then pass `listener` to
 * `createHttpServer(listener, options)` of `http-server.ts`, to a `node:http` server, or to
 * `app.use(gateway.listener)`. In an app, it passes on requests that match no route.
 */
export class Gateway {
  readonly #options: GatewayOptions
  #prepared: Prepared | undefined

  /**
   * @param mux - HTTP handlers next to the services.
   * @throws TypeError for CORS options that no browser would accept.
   */
  constructor(
    options: GatewayOptions,
    readonly mux = new GatewayMux(),
  ) {
    if (options.cors !== undefined) checkCors(options.cors)
    this.#options = options
  }

  /**
   * Compiles the routes of all methods registered so far. A valid rule that the gateway does not support is
   * logged.
   * @throws DeclarationError with every invalid rule.
   */
  prepare(): void {
    this.#prepared = this.#compile()
  }

  /** Handles one request. Never throws. */
  readonly listener = (request: IncomingMessage, response: ServerResponse, next?: Next): void => {
    const caller = new Caller()
    response.on('close', () => {
      // If the response was destroyed with an error, this server ended it: the client is still connected, and
      // the error is logged.
      if (!response.writableFinished && response.errored === null) caller.leave()
    })
    this.#serve(request, response, caller, next).catch((thrown: unknown) => {
      this.#report(request, response, caller, thrown)
      this.#fail(request, response, thrown)
    })
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    next?: Next,
  ): Promise<void> {
    const { path, query } = targetOf(request.url ?? '/')
    const { method: httpMethod = 'GET' } = request
    const normal = normalPath(path)
    if (isProbe(normal)) {
      identify(request, response)
      return send(request, response, await probe(normal, httpMethod, this.#options.readiness), false)
    }
    for (const [prefixed, name] of PREFIXED_HEADERS)
      if (request.headers[prefixed] !== undefined) takePrefixed(request, prefixed, name)
    const { exactPaths } = this.#options
    const exact = exactPaths?.byPath.get(path)
    if (exactPaths !== undefined && exact !== undefined)
      return this.#serveExact(exact, exactPaths.headers, { path, query }, request, response, caller)
    const handler = this.mux.find(normal)
    if (handler !== undefined) {
      // A handler receives the normalized path under which it was found, whatever escapes the client sent.
      request.url = query === '' ? normal : `${normal}?${query}`
      identify(request, response)
      sendContinue(request, response)
      return runHandler(handler, request, response, caller.signal)
    }
    const prepared = (this.#prepared ??= this.#compile())
    const found = prepared.routes.find(httpMethod === 'HEAD' ? 'GET' : httpMethod, path)
    if (found === undefined && next !== undefined) {
      identify(request, response)
      return next()
    }
    if (found === undefined && exactPaths?.respondsUnserved !== undefined) {
      identify(request, response)
      if (exactPaths.respondsUnserved(request, response)) return
    }
    const allow = found !== undefined && 'match' in found ? [] : allowOf(prepared.routes, path)
    const { cors } = this.#options
    const isPreflight = cors !== undefined && applyCors(cors, prepared, request, response, allow)
    if (found === undefined) throw new OwnStatusError(404, 'NOT_FOUND', 'no such path')
    if ('match' in found && !isPreflight) {
      if (matchedRoutes.has(request)) matchedRoutes.set(request, found.match.target.template.source)
      return call(prepared, found.match, query, request, response, caller)
    }
    if (httpMethod !== 'OPTIONS')
      throw new OwnStatusError(405, 'UNIMPLEMENTED', 'the path does not support this method', {
        allow: allow.join(', '),
      })
    await sendAllow(request, response, allow)
  }

  async #serveExact(
    exact: ExactPath,
    headers: KnownHeaders,
    { path, query }: Target,
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
  ): Promise<void> {
    identify(request, response)
    const allow = ['OPTIONS', ...exact.methods].sort()
    const { cors } = this.#options
    if (cors !== undefined) applyCors(cors, headers, request, response, allow)
    if (matchedRoutes.has(request)) matchedRoutes.set(request, path)
    if (request.method === 'OPTIONS') await sendAllow(request, response, allow)
    else await exact.serve(request, response, query, caller)
  }

  /**
   * Logs failures of the server. Errors of a request are only returned to its caller, and nothing is sent
   * after a disconnect.
   */
  #report(request: IncomingMessage, response: ServerResponse, caller: Caller, thrown: unknown): void {
    identify(request, response)
    if (thrown instanceof AshlarError || caller.isGone) return
    const fields = { requestId: response.getHeader('x-request-id'), err: errorForLog(thrown) }
    this.#options.logger?.error(fields, 'the gateway failed on a request')
  }

  #fail(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
    if (response.headersSent) return void response.destroy()
    try {
      void send(request, response, errorResponse(thrown), false)
    } catch {
      response.destroy()
    }
  }

  #compile(): Prepared {
    const options = this.#options
    const methods = options.methods()
    return {
      options,
      routes: routesOf(methods, (text) => options.logger?.warn({}, text)),
      registry: registryOf(methods),
      forwarded: forwardedNames(options.forwardHeaders),
      responseHeaders: sentNames(options.responseHeaders),
      unauthenticated: options.unauthenticated ?? new UnauthenticatedBytes(Number.POSITIVE_INFINITY),
    }
  }
}

const sendAllow = (
  request: IncomingMessage,
  response: ServerResponse,
  allow: readonly string[],
): void | Promise<void> => {
  identify(request, response)
  return send(
    request,
    response,
    { status: 204, headers: { allow: allow.join(', ') }, body: undefined },
    false,
  )
}

/** Returns the methods of a path for the `Allow` header. */
function allowOf(routes: RouteTable<Binding>, path: string): readonly string[] {
  const known = routes.find('', path)
  const methods = known !== undefined && 'allow' in known ? known.allow : []
  return [...new Set(['OPTIONS', ...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort()
}
