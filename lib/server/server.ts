import { setTimeout as pause } from 'node:timers/promises'
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { RequestContext } from '../context.js'
import { DeclarationError } from '../errors.js'
import { Gateway } from '../gateway/gateway.js'
import type { GatewayMux } from '../gateway/routing/mux.js'
import { Operations } from '../gen/google/longrunning/operations_pb.js'
import { Health } from '../gen/grpc/health/v1/health_pb.js'
import type { Repository } from '../persistence/contract/repository.js'
import type { Dispatcher } from '../call.js'
import { frameworkChain } from './compose.js'
import { identityOf, type ResolvedConfig } from './config/config.js'
import type { Deadline } from './chain/deadline.js'
import { developmentGuard } from './development-guard.js'
import { dispatcher } from './dispatch.js'
import { authorizationGate } from './authz/start-up-check.js'
import { GrpcListener } from './grpc/grpc-listener.js'
import { handle, type Handler, type Implementation } from './chain/handler.js'
import { healthRules, healthService, HealthState } from './lifecycle/health.js'
import { OwnHttpListener } from './http/own-http-listener.js'
import { OperationRunner } from './operations/operation-runner.js'
import { answersOperation, operationRules, operationsService } from './operations/operations-service.js'
import { type Method, pathOf } from './chain/method.js'
import { type HttpListener, MountedGateway } from './http/mounted-gateway.js'
import { type CheckResult, writesCheck } from './lifecycle/readiness.js'
import { type Reference, References } from './methods/references.js'
import { reflectionRules, reflectionService, reflectionServices } from './reflection/reflection-service.js'
import { Registry, type ServiceParts } from './methods/registry.js'
import { repositoryProblems } from './methods/repository-checks.js'
import { traced } from './http/tracing.js'
import { type Rule, RuleSet, rulesOf } from './authz/rules.js'
import { loadTelemetry, type Telemetry } from './observability/telemetry.js'
import { identified } from './http/request-id.js'
import { shutdown } from './lifecycle/shutdown.js'
import { systemReport } from './observability/system-report.js'
import { grpcCredentials, httpsOptions } from './config/tls.js'

/** Registers generated services with what implements them. */
export interface Registrar {
  add<S extends DescService>(service: S, implementation: Implementation<S>): void
}

/** Mounts handlers beside the gateway. */
export type GatewayRegistration = (mux: GatewayMux) => void | Promise<void>

/** What the readiness checks came to. */
export interface Readiness {
  readonly serving: boolean
  readonly checks: readonly CheckResult[]
}

/** A gRPC server, and a gateway in front of it when one is configured. Made by `ServerBuilder`. */
export class Server {
  readonly #config: ResolvedConfig
  readonly #rules: RuleSet
  readonly #registry = new Registry()
  readonly #references = new References()
  readonly #recorded: string[] = []
  readonly #health: HealthState
  readonly #runner: OperationRunner
  readonly #openCalls = new Set<Deadline>()
  readonly #dispatcher: Dispatcher
  #gateway: Gateway | undefined
  #mounted: MountedGateway | undefined
  readonly #gatewayRegistrations: GatewayRegistration[] = []
  #bound!: () => void
  #failed!: (error: unknown) => void
  readonly #ready = new Promise<void>((resolve, reject) => {
    this.#bound = resolve
    this.#failed = reject
  })
  #telemetry: Telemetry | undefined
  #grpcAddr = ''
  #httpAddr = ''

  constructor(config: ResolvedConfig) {
    this.#config = config
    this.#rules = new RuleSet(config.rules)
    const { deduplicationStore, lroStore } = config
    const keepers = () => [...this.#registry.repositories(), deduplicationStore, lroStore]
    const checks = () => [...config.readinessChecks, ...writesCheck(keepers())]
    this.#health = new HealthState(checks, config.logger)
    this.#runner = new OperationRunner(config.lroStore, config.logger, this.#registry)
    this.#dispatcher = this.#newDispatcher()
    this.#gateway = config.httpAddr === '' ? undefined : this.#newGateway()
    this.#ready.catch(() => {}) // whoever serves is told by serve()
    const knows = (name: string) => this.#registry.services().some(({ typeName }) => typeName === name)
    this.addRules(...healthRules)
    this.#registry.add(Health, { implementation: healthService(this.#health, knows) })
    if (config.reflection) this.#addReflection()
  }

  /** Adds a service with its rules: answered from a repository, by an implementation, or by both (the implementation first). */
  register<S extends DescService>(service: S, implementation: Implementation<S>): this
  register<S extends DescService, E extends object>(
    service: S,
    repository: Repository<E>,
    implementation?: Partial<Implementation<S>>,
  ): this
  register(service: DescService, first: object, second?: object): this {
    this.addRules(...rulesOf(service))
    const parts = isRepository(first)
      ? { repository: first, implementation: second }
      : { implementation: first }
    this.#registry.add(service, parts)
    return this
  }

  /**
   * Checks that every method is declared, starts gRPC and the gateway, and runs until the signal aborts; then shuts both
   * down within 5 seconds after `shutdownDelayMs`.
   * @returns a promise that resolves on a clean shutdown and rejects with the first fatal error.
   */
  async serve(signal: AbortSignal): Promise<void> {
    // What runs in this process outside of a call, such as a job, is logged by the server, too.
    const endReports = RequestContext.onSystem(systemReport(this.#config.logger))
    try {
      await this.#prepare()
      if (!signal.aborted) await this.#run(signal)
    } catch (error) {
      this.#failed(error)
      throw error
    } finally {
      endReports()
    }
  }

  /** Resolves when `serve` has bound its addresses; rejects when it fails before. */
  ready(): Promise<void> {
    return this.#ready
  }

  grpcServer(): Registrar {
    return { add: (service, implementation) => void this.register(service, implementation) }
  }

  /** Runs `fn` with the gateway's mux when `serve` starts; never without a gateway. */
  registerGateway(fn: GatewayRegistration): void {
    this.#gatewayRegistrations.push(fn)
  }

  /** Where HTTP handlers are mounted; undefined without a gateway. */
  gatewayMux(): GatewayMux | undefined {
    return this.#gateway?.mux
  }

  /**
   * The gateway for an HTTP server of your own, with or without an `httpAddr`: for `createServer`, or `app.use` of Express
   * and Nest, where it hands on what it has no route for. It answers 503 until `serve` has checked everything, and again
   * from the moment its signal aborts; who listens closes the connections.
   */
  httpListener(): HttpListener {
    this.#gateway ??= this.#newGateway()
    this.#mounted ??= new MountedGateway(this.#gateway)
    return this.#mounted.listener
  }

  /** Runs the readiness checks; `serving` is what gRPC health says after them. */
  async readiness(): Promise<Readiness> {
    const checks = await this.#health.check()
    return { serving: this.#health.serving, checks }
  }

  /** Contributes authorization rules, at any time. */
  addRules(...rules: readonly Rule[]): void {
    this.#rules.add(...rules)
  }

  /** Names methods, in full, that the boot-time gate shall know of beside the registered ones. */
  recordMethods(...methods: readonly string[]): void {
    this.#recorded.push(...methods)
  }

  /** `Config.rules` and all that was added since. */
  rules(): readonly Rule[] {
    return this.#rules.all()
  }

  /** Every service that is registered, with what answers it. */
  services(): ReadonlyMap<DescService, ServiceParts> {
    return this.#registry.parts()
  }

  /** Full names of the methods that were recorded beside those of the services. */
  recordedMethods(): readonly string[] {
    return [...this.#recorded]
  }

  /** The bound address; empty before `serve` has bound it. */
  grpcAddr(): string {
    return this.#grpcAddr
  }

  /** The bound address; empty without a gateway. */
  httpAddr(): string {
    return this.#httpAddr
  }

  recordReferences(...references: readonly Reference[]): void {
    this.#references.record(...references)
  }

  /** A resource type that a service of this process answers in batches. */
  recordBatchTarget(type: string): void {
    this.#references.recordBatchTarget(type)
  }

  /** A resource type of another process. @param address - where the gateway finds it. */
  recordExternalReferenceTarget(type: string, address?: string): void {
    this.#references.recordExternalTarget(type, address)
  }

  references(): readonly Reference[] {
    return this.#references.all()
  }

  async #prepare(): Promise<void> {
    this.#telemetry = await loadTelemetry()
    this.#addOperations()
    for (const register of this.#gatewayRegistrations)
      if (this.#gateway !== undefined) await register(this.#gateway.mux)
    await this.#check()
    this.#gateway?.prepare()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { grpcAddr, httpAddr, limits, tls } = this.#config
    const grpc = new GrpcListener(this.#registry.services(), this.#dispatcher, limits, grpcCredentials(tls))
    const gateway = httpAddr === '' ? undefined : this.#gateway
    const http = gateway === undefined ? undefined : this.#newHttpListener(gateway)
    const mounted = this.#mounted
    const listeners = [
      grpc,
      ...(http === undefined ? [] : [http]),
      ...(mounted === undefined ? [] : [mounted]),
    ]
    try {
      await this.#health.start()
      this.#grpcAddr = await grpc.listen(grpcAddr)
      if (http !== undefined) this.#httpAddr = await http.listen(httpAddr)
      this.#mounted?.open()
      this.#bound()
      await Promise.race([aborted(signal), ...(http === undefined ? [] : [http.broken])])
    } finally {
      this.#health.stop()
      http?.retire()
      if (signal.aborted) await pause(this.#config.shutdownDelayMs)
      this.#health.end()
      await shutdown([...listeners, { drain: () => this.#runner.stop(), close: () => {} }], this.#openCalls)
    }
  }

  async #check(): Promise<void> {
    const methods = new Map<string, DescMethod>(
      this.#registry
        .services()
        .flatMap((service) => service.methods.map((desc) => [pathOf(desc), desc] as const)),
    )
    const parts = this.services()
    authorizationGate(
      methods,
      this.#recorded,
      this.#rules,
      (service) => parts.get(service)?.repository?.model.type,
    )
    const repositories = [...parts.values()].flatMap(({ repository }) => repository ?? [])
    const problems = [
      ...this.#registry.problems(),
      ...this.#references.problems(),
      ...(await repositoryProblems(repositories, this.#config.logger)),
    ]
    if (problems.length > 0) throw new DeclarationError('server', problems)
    developmentGuard(this.#config, this.#registry, process.env['NODE_ENV'])
  }

  /** Whoever starts operations can also be asked about them. */
  #addOperations(): void {
    const services = this.#registry.services()
    if (services.some(({ typeName }) => typeName === Operations.typeName)) return
    if (!services.some(({ methods }) => methods.some(answersOperation))) return
    this.addRules(...operationRules)
    this.#registry.add(Operations, { implementation: operationsService(this.#config.lroStore, this.#runner) })
  }

  #addReflection(): void {
    const implementation = reflectionService(() => this.#registry.services())
    this.addRules(...reflectionRules)
    for (const service of reflectionServices) this.#registry.add(service, { implementation })
  }

  #newHttpListener({ listener }: Gateway): OwnHttpListener {
    const { limits, httpTls } = this.#config
    return new OwnHttpListener(traced(identified(listener), this.#telemetry), {
      headersTimeoutMs: limits.httpHeadersMs,
      requestTimeoutMs: limits.httpRequestMs,
      keepAliveTimeoutMs: limits.httpKeepaliveMs,
      maxHeaderBytes: limits.maxHeaderBytes,
      ...(Number.isFinite(limits.maxHttpConnections) ? { maxConnections: limits.maxHttpConnections } : {}),
      ...(httpTls === undefined ? {} : { tls: httpsOptions(httpTls) }),
    })
  }

  #newGateway(): Gateway {
    const { gateway, logger, httpHandlers } = this.#config
    const result = new Gateway({
      ...gateway,
      logger,
      onIgnoredMask: (method, paths) => {
        this.#telemetry?.countIgnoredMask(method.name)
        gateway.onIgnoredMask?.(method, paths)
      },
      dispatcher: this.#dispatcher,
      methods: () => this.#registry.services().flatMap(({ methods }) => methods),
      readiness: () => this.#health.check(),
    })
    for (const { pattern, handler } of httpHandlers) result.mux.handle(pattern, handler)
    return result
  }

  #newDispatcher(): Dispatcher {
    const { resilience, ...config } = this.#config
    const handlerOf = ({ desc }: Method): Handler => this.#registry.of(desc)?.handler as Handler
    const chain = frameworkChain({
      ...config,
      ...resilience,
      identity: identityOf(this.#config),
      rules: this.#rules,
      openCalls: this.#openCalls,
      timeoutMsOf: ({ path }) => resilience.perMethodTimeoutMs.get(path) ?? resilience.requestTimeoutMs,
      handlerOf,
      telemetryOf: () => this.#telemetry,
      redaction: this.#registry,
    }).around((call) => handle(handlerOf(call.method), call))
    return dispatcher((desc) => this.#registry.of(desc), chain, this.#runner)
  }
}

const isRepository = (value: object): value is Repository<object> =>
  'model' in value && 'batchGet' in value && typeof value.batchGet === 'function'

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
