import type { IncomingMessage, ServerResponse } from 'node:http'
import { normalPath } from './normal-path.js'
import { isProbe } from '../http/probes.js'

/** A handler with the signature of the Fetch standard. */
export type FetchHandler = (request: Request) => Response | Promise<Response>
/**
 * A handler with the signature of `node:http`, recognized by its two or three parameters. An Express
 * application is one.
 */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void | Promise<void>
/** A handler with the signature of `fetch` or of `node:http`. */
export type HttpHandler = FetchHandler | NodeHandler

/**
 * Handlers that are mounted next to the services. The longest pattern wins. A handler at `/` replaces the
 * services.
 */
export class GatewayMux {
  readonly #exact = new Map<string, HttpHandler>()
  #prefixes: readonly (readonly [string, HttpHandler])[] = []

  /**
   * Mounts a handler. The handler authenticates and authorizes its own requests.
   * @param pattern - an exact path, or a prefix that ends in `/`.
   * @throws TypeError for an invalid or duplicate pattern, and for the path of a health probe.
   */
  handle(pattern: string, handler: FetchHandler): this
  handle(pattern: string, handler: NodeHandler): this
  handle(pattern: string, handler: HttpHandler): this
  handle(pattern: string, handler: HttpHandler): this {
    if (!/^\/[^\s?#{}*]*$/.test(pattern))
      throw new TypeError(`gateway: "${pattern}" is not a path that begins with "/"`)
    if (normalPath(pattern) !== pattern)
      throw new TypeError(`gateway: no request matches "${pattern}": write "${normalPath(pattern)}"`)
    if (isProbe(pattern)) throw new TypeError(`gateway: "${pattern}" is reserved for the probe`)
    if (this.has(pattern)) throw new TypeError(`gateway: "${pattern}" is already mounted`)
    if (!pattern.endsWith('/')) this.#exact.set(pattern, handler)
    else
      this.#prefixes = [...this.#prefixes, [pattern, handler] as const].sort(
        ([a], [b]) => b.length - a.length,
      )
    return this
  }

  /** Returns true if a handler is mounted at exactly this pattern. */
  has(pattern: string): boolean {
    return this.#exact.has(pattern) || this.#prefixes.some(([prefix]) => prefix === pattern)
  }

  /** True if a mounted handler has the signature of `node:http`. */
  get hasNodeHandlers(): boolean {
    return [...this.#exact.values(), ...this.#prefixes.map(([, handler]) => handler)].some(isNodeHandler)
  }

  /** Returns the handler for a normalized path; undefined if the path belongs to the services. */
  find(path: string): HttpHandler | undefined {
    return this.#exact.get(path) ?? this.#prefixes.find(([prefix]) => path.startsWith(prefix))?.[1]
  }
}

/** Returns true for a handler with the signature of `node:http`. */
export const isNodeHandler = (handler: HttpHandler): handler is NodeHandler => handler.length >= 2
