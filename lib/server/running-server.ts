import { setTimeout as pause } from 'node:timers/promises'
import type { Gateway } from '../gateway/gateway.js'
import { grpcCredentials, httpsOptions } from './config/tls.js'
import { GrpcListener } from './grpc/grpc-listener.js'
import { OwnHttpListener } from './http/own-http-listener.js'
import type { MountedGateway } from './http/mounted-gateway.js'
import { identified } from './http/identified.js'
import { traced } from './http/traced.js'
import { shutdown } from './lifecycle/shutdown.js'
import type { ServerPlan } from './server-plan.js'

/** The bound addresses; empty for a listener that does not exist. */
export interface Addresses {
  readonly grpc: string
  readonly http: string
}

/** A running plan: its listeners, its health, its shutdown. */
export class RunningServer {
  readonly #plan: ServerPlan
  readonly #grpc: GrpcListener
  readonly #http: OwnHttpListener | undefined
  readonly #mounted: MountedGateway | undefined

  /** @param mounted - the gateway inside of another HTTP server. */
  constructor(plan: ServerPlan, mounted: MountedGateway | undefined) {
    const { config, services, dispatcher, gateway } = plan
    this.#plan = plan
    this.#grpc = new GrpcListener(services, dispatcher, config.limits, grpcCredentials(config.tls))
    this.#http = gateway && config.httpAddr !== '' ? ownHttpListener(plan, gateway) : undefined
    this.#mounted = mounted
  }

  /**
   * Binds, serves until the signal aborts, and shuts down.
   * @param bound - called with the addresses.
   * @throws the first fatal error.
   */
  async run(signal: AbortSignal, bound: (addresses: Addresses) => void): Promise<void> {
    const { config, gateway, health } = this.#plan
    try {
      await health.start()
      const grpc = await this.#grpc.listen(config.grpcAddr)
      const http = (await this.#http?.listen(config.httpAddr)) ?? ''
      if (gateway !== undefined) this.#mounted?.open(gateway)
      bound({ grpc, http })
      await Promise.race([aborted(signal), ...(this.#http === undefined ? [] : [this.#http.broken])])
    } finally {
      await this.#end(signal.aborted)
    }
  }

  /** @param isAsked - whether load balancers get time to notice. */
  async #end(isAsked: boolean): Promise<void> {
    const { config, health, runner, openCalls, externalTargets } = this.#plan
    health.stop()
    this.#http?.retire()
    if (isAsked) await pause(config.shutdownDelayMs)
    health.end()
    const work = { drain: () => runner.stop(), close: () => {} }
    const all = [this.#grpc, this.#http, this.#mounted, work]
    await shutdown(
      all.filter((listener) => listener !== undefined),
      openCalls,
    )
    for (const target of externalTargets) target.close()
  }
}

const ownHttpListener = ({ config, telemetry }: ServerPlan, { listener }: Gateway): OwnHttpListener => {
  const { limits, httpTls } = config
  return new OwnHttpListener(traced(identified(listener), telemetry), {
    headersTimeoutMs: limits.httpHeadersMs,
    requestTimeoutMs: limits.httpRequestMs,
    keepAliveTimeoutMs: limits.httpKeepaliveMs,
    maxHeaderBytes: limits.maxHeaderBytes,
    ...(Number.isFinite(limits.maxHttpConnections) ? { maxConnections: limits.maxHttpConnections } : {}),
    ...(httpTls === undefined ? {} : { tls: httpsOptions(httpTls) }),
  })
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
