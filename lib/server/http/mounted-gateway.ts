import type { IncomingMessage, ServerResponse } from 'node:http'
import { Unavailable } from '../../errors.js'
import { errorResponse } from '../../gateway/http/error-body.js'
import type { Gateway } from '../../gateway/gateway.js'
import { identify } from '../../gateway/http/identify-request.js'
import { send } from '../../gateway/http/respond.js'
import { identified } from './identified.js'
import type { Listener } from '../lifecycle/shutdown.js'

/**
 * The gateway as a listener of `node:http`, Express, Fastify or Nest. Inside an app, it passes on requests
 * that match no route.
 */
export type HttpListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * A gateway inside another HTTP server. It accepts requests after `serve` has completed its checks and until
 * `serve` ends.
 */
export class MountedGateway implements Listener {
  readonly #responding = new Set<ServerResponse>()
  #gateway: Gateway | undefined
  #drained: (() => void) | undefined

  readonly listener: HttpListener = (request, response, next) => {
    const gateway = this.#gateway
    if (gateway === undefined) return identified(refuse)(request, response)
    this.#responding.add(response)
    const done = () => {
      this.#responding.delete(response)
      if (this.#responding.size === 0) this.#drained?.()
    }
    response.once('close', done)
    const handOn = (error?: unknown) => {
      done()
      next?.(error)
    }
    identified((identifiedRequest) =>
      gateway.listener(identifiedRequest, response, next === undefined ? undefined : handOn),
    )(request, response)
  }

  open(gateway: Gateway): void {
    this.#gateway = gateway
  }

  async drain(): Promise<void> {
    this.#gateway = undefined
    if (this.#responding.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve))
  }

  close(): void {
    for (const response of this.#responding) response.destroy()
  }
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const unavailable = errorResponse(new Unavailable('the server is not serving: try again later'))
  const last = { ...unavailable, headers: { ...unavailable.headers, connection: 'close' } }
  identify(request, response)
  void send(request, response, last, false)
}
