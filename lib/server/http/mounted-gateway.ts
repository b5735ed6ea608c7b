import type { IncomingMessage, ServerResponse } from 'node:http'
import { Unavailable } from '../../errors.js'
import { errorAnswer } from '../../gateway/http/error-body.js'
import type { Gateway } from '../../gateway/gateway.js'
import { send } from '../../gateway/http/respond.js'
import { identified } from './identified.js'
import type { Listener } from '../lifecycle/shutdown.js'

/** The gateway as a listener: of `node:http`, or of Express, Fastify or Nest, which it hands on to what it has no route for. */
export type HttpListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** A gateway inside of somebody else's HTTP server: closed until `serve` has checked everything, and again when it ends. */
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
  const answer = errorAnswer(new Unavailable('the server is not serving: try again later'))
  const last = { ...answer, headers: { ...answer.headers, connection: 'close' } }
  send(request, response, last, false).catch(() => response.destroy())
}
