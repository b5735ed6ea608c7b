import type { DescService } from '@bufbuild/protobuf'
import { RequestContext } from '../context.js'
import type { GatewayMux } from '../gateway/routing/mux.js'
import { Health } from '../gen/grpc/health/v1/health_pb.js'
import type { AnyKeyRepository, Repository } from '../persistence/contract/repository.js'
import { onDatabaseDoubt } from '../persistence/sql/transaction.js'
import { authorizedServer } from './authorized-server.js'
import type { AuthorizedServer } from './authz/authorizer.js'
import type { Rule } from './authz/rules.js'
import type { Implementation } from './chain/handler.js'
import type { ResolvedConfig } from './config/config.js'
import { type HttpListener, MountedGateway } from './http/mounted-gateway.js'
import { healthRules, healthService, HealthState } from './lifecycle/health.js'
import { type CheckResult, writesCheck } from './lifecycle/readiness.js'
import type { OpenApiInfo } from '../openapi/source/source.js'
import { documentOf } from './openapi/open-api.js'
import type { ExternalTargetOptions } from './references/external-target.js'
import type { Reference } from './references/declared-references.js'
import type { ServiceParts } from './methods/handler-of.js'
import { contextReports } from './observability/context-reports.js'
import { errorForLog } from '../faults/driver-fault.js'
import { OperationRunner } from './operations/operation-runner.js'
import { reflectionRules, reflectionService, reflectionServices } from './reflection/reflection-service.js'
import { type GatewayRegistration, Registrations } from './registrations.js'
import { type Addresses, RunningServer } from './running-server.js'
import { planOf } from './server-plan.js'
import { checked, type Foundation, type ServerCheck } from './start-up-findings.js'
import { DefaultIdempotencyStore } from './idempotency/memory-idempotency-store.js'
import { idempotencyStoreOf, operationStoreOf } from './unavailable-stores.js'

export type { GatewayRegistration } from './registrations.js'
export type { ServerCheck } from './start-up-findings.js'

/** Registers generated services with their implementations. */
export interface Registrar {
  /** Registers the implementation of a service. */
  add<S extends DescService>(service: S, implementation: Implementation<S>): void
}

/** The results of the readiness checks. */
export interface Readiness {
  readonly serving: boolean
  readonly checks: readonly CheckResult[]
}

/**
 * A gRPC server, with a gateway if one is configured. Created by `ServerBuilder`. It collects registrations;
 * `serve` turns them into a checked plan and runs it.
 *
 * @example
 * ```ts
 * import { type Server, ServerBuilder } from 'ashlar'
 * import { WidgetService } from './gen/widgets_pb.js'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const serverOf = (widgets: WidgetRepository): Server =>
 *   new ServerBuilder({ grpcAddr: ':9090' })
 *     .register(WidgetService, widgets, {
 *       retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
 *     })
 *     .build()
 *
 * export const main = (server: Server) => server.serve(AbortSignal.timeout(60_000))
 * ```
 */
export class Server {
  readonly #config: ResolvedConfig
  readonly #registrations: Registrations
  readonly #authorized: AuthorizedServer
  readonly #health: HealthState
  readonly #runner: OperationRunner
  #mounted: MountedGateway | undefined
  #bound!: () => void
  #failed!: (error: unknown) => void
  readonly #ready = new Promise<void>((resolve, reject) => {
    this.#bound = resolve
    this.#failed = reject
  })
  /** True if repeated calls run again after a restart. */
  readonly #forgetsKeys: boolean
  #addresses: Addresses = { grpc: '', http: '', metrics: '' }

  constructor(resolved: ResolvedConfig) {
    const config = {
      ...resolved,
      idempotencyStore: idempotencyStoreOf(resolved.idempotencyStore),
      operationStore: operationStoreOf(resolved.operationStore),
    }
    this.#config = config
    this.#forgetsKeys = resolved.idempotencyStore instanceof DefaultIdempotencyStore
    this.#registrations = new Registrations(config)
    this.#authorized = authorizedServer(this.#registrations, config)
    const { registry } = this.#registrations
    const { authorizer, idempotencyStore, logger, operationStore } = config
    const stores = () => [...registry.repositories(), idempotencyStore, operationStore]
    const checks = () => [...config.readinessChecks, ...writesCheck(stores())]
    this.#health = new HealthState(checks, config.logger)
    // An operation's result can contain rows that other principals of the tenant may not get.
    this.#runner = new OperationRunner(operationStore, logger, registry, authorizer.decidesByRow === true)
    this.#ready.catch(() => {}) // serve() reports it
    const names = () => registry.services().map(({ typeName }) => typeName)
    const knows = (name: string) => names().includes(name)
    // Service names are public only if reflection is enabled.
    const listed = () => (config.reflection ? names() : [])
    this.#registrations.addBuiltIn(Health, healthRules, healthService(this.#health, knows, listed))
    if (config.reflection) this.#addReflection()
  }

  /**
   * Adds a service with its rules. A repository, your functions, or both implement it. Your functions take
   * precedence.
   */
  register<S extends DescService>(service: S, implementation: Implementation<S>): this
  register<S extends DescService, E extends object>(
    service: S,
    repository: AnyKeyRepository<E>,
    implementation?: Partial<Implementation<S>>,
  ): this
  register(service: DescService, first: object, second?: object): this {
    const parts = isRepository(first)
      ? { repository: first, implementation: second }
      : { implementation: first }
    this.#registrations.add(service, parts)
    return this
  }

  /**
   * Checks that every method is declared, starts gRPC and the gateway, and runs until the signal aborts. Then
   * waits for `shutdownDelayMs` and shuts both down within 5 seconds.
   * @returns a promise that resolves after a clean shutdown and rejects with the first fatal error.
   */
  async serve(signal: AbortSignal): Promise<void> {
    // Also logs system access outside calls in this process, such as in a job.
    const { logger } = this.#config
    const endReports = RequestContext.onSystem(contextReports(logger).onSystem)
    const endDoubts = onDatabaseDoubt(({ report }) => {
      if (report !== undefined) logger.error({ err: errorForLog(report.error) }, report.message)
      this.#health.doubt()
    })
    try {
      const plan = await planOf(this.#foundation)
      if (this.#forgetsKeys && process.env['NODE_ENV'] === 'production') logger.warn({}, KEYS_IN_MEMORY)
      if (!signal.aborted)
        await new RunningServer(plan, this.#mounted).run(signal, (addresses) => {
          this.#addresses = addresses
          this.#bound()
        })
    } catch (error) {
      this.#failed(error)
      throw error
    } finally {
      await this.#config.authorizer.close?.(this.#authorized)
      endReports()
      endDoubts()
    }
  }

  /**
   * Runs the checks of `serve` without starting anything, except the workers' own checks.
   * @returns the problems with which `serve` would reject, and the warnings that it would log.
   */
  async check(): Promise<ServerCheck> {
    try {
      return await checked(this.#foundation)
    } finally {
      await this.#config.authorizer.close?.(this.#authorized)
    }
  }

  /** Resolves when `serve` has bound its addresses; rejects if it fails earlier. */
  ready(): Promise<void> {
    return this.#ready
  }

  /** Returns a registrar for services that are added after the server was built. */
  grpcServer(): Registrar {
    return { add: (service, implementation) => void this.register(service, implementation) }
  }

  /** Runs `fn` with the gateway's mux when `serve` starts. Without a gateway, it is never called. */
  registerGateway(fn: GatewayRegistration): void {
    this.#registrations.gateway.push(fn)
  }

  /** The gateway's mux for HTTP handlers; undefined without a gateway. */
  gatewayMux(): GatewayMux | undefined {
    return this.#registrations.mux
  }

  /**
   * Returns the gateway for your own HTTP server, with or without an `httpAddr`: for `createServer`, or for
   * `app.use` of Express and Nest, where it passes on requests that match no route. It responds with 503
   * until `serve` has completed its checks, and again after its signal aborts. Your server must close its own
   * connections.
   */
  httpListener(): HttpListener {
    this.#registrations.openMux()
    this.#mounted ??= new MountedGateway()
    return this.#mounted.listener
  }

  /** Runs the readiness checks. `serving` is the resulting gRPC health. */
  async readiness(): Promise<Readiness> {
    const checks = await this.#health.check()
    return { serving: this.#health.serving, checks }
  }

  /** Adds authorization rules. May be called at any time. */
  addRules(...rules: readonly Rule[]): void {
    this.#registrations.rules.add(...rules)
  }

  /** Adds full names of methods that the startup check must include. */
  recordMethods(...methods: readonly string[]): void {
    this.#registrations.recorded.push(...methods)
  }

  /** Returns `Config.rules` and all rules added since. */
  rules(): readonly Rule[] {
    return this.#registrations.rules.all()
  }

  /** Returns every registered service with its implementation. */
  services(): ReadonlyMap<DescService, ServiceParts> {
    return this.#registrations.registry.parts()
  }

  /** Returns the full names added with `recordMethods`. */
  recordedMethods(): readonly string[] {
    return [...this.#registrations.recorded]
  }

  /** Returns the bound gRPC address; empty before `serve` has bound it. */
  grpcAddr(): string {
    return this.#addresses.grpc
  }

  /** Returns the bound HTTP address; empty without a gateway. */
  httpAddr(): string {
    return this.#addresses.http
  }

  /** Returns the bound address of `metricsAddr`; empty without it. */
  metricsAddr(): string {
    return this.#addresses.metrics
  }

  /** Adds references to other services, which `serve` checks. */
  recordReferences(...references: readonly Reference[]): void {
    this.#registrations.references.record(...references)
  }

  /** Records a resource type that a service of this process returns in batches. */
  recordBatchTarget(type: string): void {
    this.#registrations.references.recordBatchTarget(type)
  }

  /**
   * Records a resource type that another process serves. Fields that show a resource of the type are read
   * from that process, with the caller's credentials.
   * @param address - `host:port`.
   */
  recordExternalReferenceTarget(type: string, address?: string, options?: ExternalTargetOptions): void {
    this.#registrations.references.recordExternalTarget(type, address, options)
  }

  /**
   * Returns the OpenAPI document of the services registered so far; see `openApi`.
   * @param info - takes precedence over the option `gateway.openapi`.
   */
  openApi(info?: OpenApiInfo): Promise<string> {
    return documentOf(this.#config, this.#registrations, info)
  }

  /** Returns the recorded references. */
  references(): readonly Reference[] {
    return this.#registrations.references.all()
  }

  get #foundation(): Foundation {
    return {
      config: this.#config,
      registrations: this.#registrations,
      authorized: this.#authorized,
      health: this.#health,
      runner: this.#runner,
    }
  }

  #addReflection(): void {
    const implementation = reflectionService(() => this.#registrations.registry.services())
    for (const service of reflectionServices)
      this.#registrations.addBuiltIn(service, reflectionRules, implementation)
  }
}

const KEYS_IN_MEMORY =
  'responses of calls with an idempotency key are stored in memory: a call that is repeated after a restart, or in another process, runs again. Set idempotencyStore to SqlIdempotencyStore or RedisIdempotencyStore'

const isRepository = (value: object): value is Repository<object> =>
  'model' in value && 'batchGet' in value && typeof value.batchGet === 'function'
