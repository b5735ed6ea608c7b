import type { DescService } from '@bufbuild/protobuf'
import type { FetchHandler, HttpHandler, NodeHandler } from '../gateway/routing/mux.js'
import type { AnyKeyRepository } from '../persistence/contract/repository.js'
import type { Authenticator } from './authn/authenticator.js'
import type { Authorizer } from './authz/authorizer.js'
import { type Config, type GatewayConfig, resolveConfig, type ResilienceConfig } from './config/config.js'
import type { Implementation } from './chain/handler.js'
import type { PrincipalFunc } from './interceptors/authorization.js'
import type { LimitsConfig } from './config/limits.js'
import type { Logger } from './observability/logger.js'
import type { ReadinessCheck } from './lifecycle/readiness.js'
import type { Rule } from './authz/rules.js'
import { Server } from './server.js'
import type { IdempotencyStore } from './idempotency/idempotency-store.js'
import type { OperationStore } from './operations/operation-store.js'
import type { TlsConfig } from './config/tls.js'
import type { UserInterceptor } from './chain/user-interceptor.js'
import type { Worker } from './lifecycle/worker.js'

type Registration = (server: Server) => void

/**
 * The name of the builder method for a field: the field's name, or its singular if the method adds one item.
 */
type MethodOf<Field> = Field extends 'httpHandlers'
  ? 'httpHandler'
  : Field extends 'readinessChecks'
    ? 'readinessCheck'
    : Field

/** The parameters of the builder method: the field's value, or the items of a list. */
type Setter<Field extends keyof Config> = Field extends 'httpHandlers' | 'readinessChecks'
  ? (...parts: never[]) => unknown
  : NonNullable<Config[Field]> extends readonly (infer Item)[]
    ? (...items: Item[]) => unknown
    : (value: NonNullable<Config[Field]>) => unknown

/** Requires a method for every field of `Config`. */
type Setters = { readonly [Field in keyof Config as MethodOf<Field>]-?: Setter<Field> }

/**
 * Builds a {@link Server} from a `Config`, from one call per field, or from both.
 * @example
 * ```ts
 * import { oidc, ServerBuilder } from 'ashlar'
 * import { WidgetService } from './gen/widgets_pb.js'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const serve = (widgets: WidgetRepository, signal: AbortSignal) =>
 *   new ServerBuilder({ grpcAddr: ':9090', httpAddr: ':8080' })
 *     .authenticator(oidc({ issuer: 'https://login.example.com', audience: 'widgets' }))
 *     .authorizer({ authorize: ({ principal }) => principal.groups.includes('staff') })
 *     .register(WidgetService, widgets, {
 *       retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
 *     })
 *     .build()
 *     .serve(signal)
 * ```
 */
export class ServerBuilder implements Setters {
  #config: Config
  readonly #registrations: Registration[] = []

  constructor(config: Config = {}) {
    this.#config = config
  }

  /** Sets the address of the gRPC listener, such as `DefaultGRPCAddr`, or `:0` for a free port. Required. */
  grpcAddr(address: string): this {
    return this.#set({ grpcAddr: address })
  }

  /** Sets the address of the HTTP listener. Without it, there is no HTTP listener. */
  httpAddr(address: string): this {
    return this.#set({ httpAddr: address })
  }

  /** Sets the address of the Prometheus listener. */
  metricsAddr(address: string): this {
    return this.#set({ metricsAddr: address })
  }

  /** Adds authorization rules. */
  rules(...rules: readonly Rule[]): this {
    return this.#set({ rules: [...(this.#config.rules ?? []), ...rules] })
  }

  /** Sets the authorizer. Without one, everything is denied. */
  authorizer(authorizer: Authorizer): this {
    return this.#set({ authorizer })
  }

  /** Sets the function that derives a call's principal. */
  principalFunc(principalFunc: PrincipalFunc): this {
    return this.#set({ principalFunc })
  }

  /** Sets the authenticator, which verifies bearer tokens. */
  authenticator(authenticator: Authenticator): this {
    return this.#set({ authenticator })
  }

  /** Adds interceptors after the previous ones. */
  interceptors(...interceptors: readonly UserInterceptor[]): this {
    return this.#set({ interceptors: [...(this.#config.interceptors ?? []), ...interceptors] })
  }

  /** Adds an HTTP handler to the gateway's listener. */
  httpHandler(pattern: string, handler: FetchHandler): this
  httpHandler(pattern: string, handler: NodeHandler): this
  httpHandler(pattern: string, handler: HttpHandler): this
  httpHandler(pattern: string, handler: HttpHandler): this {
    return this.#set({ httpHandlers: [...(this.#config.httpHandlers ?? []), { pattern, handler }] })
  }

  /** Sets the store for responses of repeated calls. */
  idempotencyStore(idempotencyStore: IdempotencyStore): this {
    return this.#set({ idempotencyStore })
  }

  /** Alias of `idempotencyStore`. */
  deduplicationStore(deduplicationStore: IdempotencyStore): this {
    return this.#set({ deduplicationStore })
  }

  /** Sets the store for long-running operations. */
  operationStore(operationStore: OperationStore): this {
    return this.#set({ operationStore })
  }

  /** Alias of `operationStore`. */
  lroStore(lroStore: OperationStore): this {
    return this.#set({ lroStore })
  }

  /** Sets the server's logger. */
  logger(logger: Logger): this {
    return this.#set({ logger })
  }

  /** Adds a readiness check. */
  readinessCheck(name: string, check: ReadinessCheck['check']): this {
    return this.#set({ readinessChecks: [...(this.#config.readinessChecks ?? []), { name, check }] })
  }

  /** Adds workers. */
  workers(...workers: readonly Worker[]): this {
    return this.#set({ workers: [...(this.#config.workers ?? []), ...workers] })
  }

  /** Merges resilience options with the previous ones. */
  resilience(resilience: ResilienceConfig): this {
    return this.#set({ resilience: { ...this.#config.resilience, ...resilience } })
  }

  /** Merges gateway options with the previous ones. */
  gateway(gateway: GatewayConfig): this {
    return this.#set({ gateway: { ...this.#config.gateway, ...gateway } })
  }

  /** Sets TLS for both listeners. */
  tls(tls: TlsConfig): this {
    return this.#set({ tls })
  }

  /** Sets TLS for the HTTP listener if it differs from `tls`. */
  httpTls(httpTls: TlsConfig | 'none'): this {
    return this.#set({ httpTls })
  }

  /** Merges limits with the previous ones. */
  limits(limits: LimitsConfig): this {
    return this.#set({ limits: { ...this.#config.limits, ...limits } })
  }

  /** Serves gRPC reflection. See `Config.reflection`. */
  reflection(reflection = true): this {
    return this.#set({ reflection })
  }

  /** See `Config.slowListMs`. */
  slowListMs(leastMs: number): this {
    return this.#set({ slowListMs: leastMs })
  }

  /** See `Config.shutdownDelayMs`. */
  shutdownDelayMs(delayMs: number): this {
    return this.#set({ shutdownDelayMs: delayMs })
  }

  /** See `Config.explainDenials`. */
  explainDenials(explain = true): this {
    return this.#set({ explainDenials: explain })
  }

  /** See `Config.allowDevelopment`. */
  allowDevelopment(allow = true): this {
    return this.#set({ allowDevelopment: allow })
  }

  /** See {@link Server.register}. */
  register<S extends DescService>(service: S, implementation: Implementation<S>): this
  register<S extends DescService, E extends object>(
    service: S,
    repository: AnyKeyRepository<E>,
    implementation?: Partial<Implementation<S>>,
  ): this
  register(service: DescService, first: never, second?: never): this {
    this.#registrations.push((server) => server.register(service, first, second))
    return this
  }

  /**
   * Builds the server.
   * @param adjust - returns the configuration to build with instead; the builder's own is not changed. For
   *   tests.
   * @throws DeclarationError with every mistake in the configuration.
   */
  build(adjust: (config: Config) => Config = (config) => config): Server {
    const server = new Server(resolveConfig(adjust(this.#config)))
    for (const register of this.#registrations) register(server)
    return server
  }

  #set(fields: Partial<Config>): this {
    this.#config = { ...this.#config, ...fields }
    return this
  }
}
