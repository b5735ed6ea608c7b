import type { RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Gateway } from '../gateway/gateway.js'
import type { HttpServerOptions } from '../gateway/http/http-server.js'
import { ServerCredentials } from '@grpc/grpc-js'
import { GrpcTls, httpsOptions, readTls, secureContext, type TlsNow } from './config/tls.js'
import { GrpcListener } from './grpc/grpc-listener.js'
import { OwnHttpListener } from './http/own-http-listener.js'
import type { MountedGateway } from './http/mounted-gateway.js'
import { identified } from './http/identified.js'
import { traced } from './http/traced.js'
import { logSlowLists } from './observability/slow-lists.js'
import { CertificateFiles } from './certificate-files.js'
import { shutdown } from './lifecycle/shutdown.js'
import { type ServerPlan, timeoutMsOf } from './server-plan.js'

/** The bound addresses; empty if the listener does not exist. */
export interface Addresses {
  readonly grpc: string
  readonly http: string
  readonly metrics: string
}

/** A running server: its listeners, health and shutdown. */
export class RunningServer {
  readonly #plan: ServerPlan
  readonly #grpc: GrpcListener
  readonly #grpcTls: GrpcTls | undefined
  readonly #http: OwnHttpListener | undefined
  readonly #mounted: MountedGateway | undefined
  readonly #metrics: OwnHttpListener | undefined
  #certificates: readonly CertificateFiles[] = []
  #stopSlowLists = () => {}

  /** @param mounted - the gateway inside another HTTP server. */
  constructor(plan: ServerPlan, mounted: MountedGateway | undefined) {
    const { config, services, gateway } = plan
    this.#plan = plan
    this.#grpcTls = config.tls && new GrpcTls(readTls(config.tls), config.limits.httpHeadersMs)
    const credentials = this.#grpcTls ?? ServerCredentials.createInsecure()
    const parts = { ...plan, limits: config.limits, timeoutMsOf: timeoutMsOf(config) }
    this.#grpc = new GrpcListener(services, parts, credentials)
    this.#http = gateway && config.httpAddr !== '' ? ownHttpListener(plan, gateway) : undefined
    this.#mounted = mounted
    this.#metrics = plan.prometheus && plainListener(plan, plan.prometheus.listener)
  }

  /**
   * Binds the addresses, serves until the signal aborts, and shuts down.
   * @param bound - called with the bound addresses.
   * @throws the first fatal error.
   */
  async run(signal: AbortSignal, bound: (addresses: Addresses) => void): Promise<void> {
    const { config, gateway, health, telemetry } = this.#plan
    try {
      await health.start()
      const grpc = await this.#grpc.listen(config.grpcAddr)
      const http = (await this.#http?.listen(config.httpAddr)) ?? ''
      if (gateway !== undefined) this.#mounted?.open(gateway)
      const metrics = (await this.#metrics?.listen(config.metricsAddr)) ?? ''
      this.#certificates = await this.#watchCertificates()
      for (const worker of config.workers) worker.start()
      telemetry?.start(config.workers)
      this.#stopSlowLists = logSlowLists(config.logger, config.slowListMs)
      bound({ grpc, http, metrics })
      const listeners = [this.#http, this.#metrics].filter((listener) => listener !== undefined)
      await Promise.race([aborted(signal), ...listeners.map(({ broken }) => broken)])
    } finally {
      await this.#end(signal.aborted)
    }
  }

  #watchCertificates(): Promise<readonly CertificateFiles[]> {
    const { tls, httpTls, logger } = this.#plan.config
    const grpc = (now: TlsNow) => this.#grpcTls?.renew(now)
    const http = (now: TlsNow) => this.#http?.renew(secureContext(now))
    const both = (now: TlsNow) => {
      grpc(now)
      http(now)
    }
    const uses =
      tls === httpTls
        ? ([['tls', tls, both]] as const)
        : ([
            ['tls', tls, grpc],
            ['httpTls', httpTls, http],
          ] as const)
    return Promise.all(
      uses.flatMap(([field, config, use]) =>
        config === undefined ? [] : [CertificateFiles.watch(field, config, { logger, use })],
      ),
    )
  }

  /** @param isAsked - true if the shutdown was requested, so that load balancers need time to react. */
  async #end(isAsked: boolean): Promise<void> {
    const { config, health, runner, openCalls, externalTargets } = this.#plan
    health.stop()
    for (const certificate of this.#certificates) await certificate.close()
    this.#http?.retire()
    if (isAsked) await pause(config.shutdownDelayMs)
    health.end()
    const work = [{ drain: () => runner.stop() }, ...config.workers].map((one) => ({
      drain: () => one.drain(),
      close: () => {},
    }))
    const all = [this.#grpc, this.#http, this.#mounted, this.#metrics, ...work]
    await shutdown(
      all.filter((listener) => listener !== undefined),
      openCalls,
    )
    for (const target of externalTargets) target.close()
    this.#plan.telemetry?.stop()
    this.#stopSlowLists()
    await this.#plan.prometheus?.close()
  }
}

const ownHttpListener = (plan: ServerPlan, { listener, mux }: Gateway): OwnHttpListener => {
  const { httpTls, gateway, logger } = plan.config
  const secured =
    httpTls === undefined
      ? {}
      : { tls: httpsOptions(readTls(httpTls)), http2: gateway.http2 ?? !mux.hasNodeHandlers }
  if (secured.http2 === false && gateway.http2 === undefined)
    logger.info({}, 'HTTP/2 is not offered: a mounted handler is in the style of node:http')
  return new OwnHttpListener(traced(identified(listener), plan.telemetry), { ...boundsOf(plan), ...secured })
}

const plainListener = (plan: ServerPlan, listener: RequestListener): OwnHttpListener =>
  new OwnHttpListener(listener, boundsOf(plan))

const boundsOf = ({ config: { limits } }: ServerPlan): HttpServerOptions => ({
  headersTimeoutMs: limits.httpHeadersMs,
  requestTimeoutMs: limits.httpRequestMs,
  keepAliveTimeoutMs: limits.httpKeepaliveMs,
  maxHeaderBytes: limits.maxHeaderBytes,
  maxConcurrentStreams: limits.maxConcurrentStreams,
  ...(Number.isFinite(limits.maxHttpConnections) ? { maxConnections: limits.maxHttpConnections } : {}),
})

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
