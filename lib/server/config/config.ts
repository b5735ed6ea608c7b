import type { Authenticator } from '../authn/authenticator.js'
import { devPrincipal } from '../authn/dev-principal.js'
import type { Authorizer } from '../authz/authorizer.js'
import { resolved } from './config-field.js'
import { CONFIG_FIELDS } from './config-defaults.js'
import { verifiedPrincipal } from './verified-principal.js'
import { doubleNames, underOneName, unknownNames } from './config-names.js'
import { DeclarationError, problem, type Problem } from '../../errors.js'
import type { GatewayOptions } from '../../gateway/gateway.js'
import type { OpenApiInfo } from '../../openapi/source/source.js'
import type { CircuitBreaker } from '../interceptors/circuit-breaker.js'
import type { HTTPHandler } from './http-handler.js'
import type { PrincipalFunc } from '../interceptors/authorization.js'
import type { Identity } from '../interceptors/rate-limit.js'
import { type LimitsConfig, limitProblems, type ResolvedLimits } from './limits.js'
import type { Logger } from '../observability/logger.js'
import type { RateLimiter } from '../rate-limit/rate-limiter.js'
import type { ReadinessCheck } from '../lifecycle/readiness.js'
import type { Rule } from '../authz/rules.js'
import type { IdempotencyStore } from '../idempotency/idempotency-store.js'
import type { OperationStore } from '../operations/operation-store.js'
import { type TlsConfig, tlsProblems } from './tls.js'
import type { UserInterceptor } from '../chain/user-interceptor.js'
import type { Worker } from '../lifecycle/worker.js'

/** The conventional address of the gRPC listener. */
export const DefaultGRPCAddr = ':9090'

/** Disables a timeout. */
export const NoTimeout = Number.POSITIVE_INFINITY

/** The maximum shutdown delay. No platform waits longer than an hour for a process to end. */
const LONGEST_DELAY_MS = 3_600_000

/** Options for overload and for failing handlers. */
export interface ResilienceConfig {
  /**
   * Timeout in milliseconds of every unary call, and of each step before the handler of a stream. Default: 30
   * seconds, also for 0. `NoTimeout` disables it.
   */
  readonly requestTimeoutMs?: number
  /**
   * Maps a full gRPC method name to a timeout in milliseconds that replaces `requestTimeoutMs`. `NoTimeout`
   * disables the timeout of that method.
   */
  readonly perMethodTimeoutMs?: Readonly<Record<string, number>>
  /**
   * Rejects excess load for each tenant, or for each client address if the tenant is unknown. Default: none.
   */
  readonly rateLimiter?: RateLimiter
  /** Wraps handlers just inside the framework's chain. Default: none. */
  readonly circuitBreaker?: CircuitBreaker
}

/** Options of the HTTP/JSON gateway. */
export interface GatewayConfig extends Partial<ResolvedGateway> {}

/**
 * The configuration of a server. Every field except `grpcAddr` is optional.
 *
 * @example
 * ```ts
 * import { type Config, jsonLogger, roleAuthorizer } from 'ashlar'
 * import { DefaultGRPCAddr } from 'ashlar/server'
 *
 * export const config: Config = {
 *   grpcAddr: DefaultGRPCAddr,
 *   httpAddr: ':8080',
 *   authorizer: roleAuthorizer({
 *     roles: { editor: [{ verbs: ['*'], resource: 'widget' }] },
 *     bindings: [{ tenant: '*', subjects: ['group:staff'], roles: ['editor'] }],
 *   }),
 *   logger: jsonLogger('info'),
 *   resilience: { requestTimeoutMs: 5000 },
 * }
 * ```
 */
export interface Config {
  /**
   * TCP address such as `:9090`, or `:0` for a free port. Required. `DefaultGRPCAddr` is the conventional
   * value.
   */
  readonly grpcAddr?: string
  /** TCP address of the HTTP/JSON gateway. Default: no gateway. */
  readonly httpAddr?: string
  /** Authorization rules in addition to the registered services' rules. Default: none. */
  readonly rules?: readonly Rule[]
  /** Decides who may do what. Default: a development authorizer without grants, which denies everything. */
  readonly authorizer?: Authorizer
  /**
   * Derives the principal from the request. Default: the principal that the authenticator verified. Without
   * an authenticator there is no principal, and every non-public call is denied.
   */
  readonly principalFunc?: PrincipalFunc
  /** Verifies bearer tokens before authorization. Default: none. */
  readonly authenticator?: Authenticator
  /** Run around unary handlers, after authorization and validation. Default: none. */
  readonly interceptors?: readonly UserInterceptor[]
  /** HTTP handlers served on the gateway's listener; requires `httpAddr`. Default: none. */
  readonly httpHandlers?: readonly HTTPHandler[]
  /** Stores responses and replays them for repeated calls. Default: in memory, for 10 minutes. */
  readonly idempotencyStore?: IdempotencyStore
  /** Alias of `idempotencyStore`. */
  readonly deduplicationStore?: IdempotencyStore
  /** Stores long-running operations (AIP-151). Default: in memory, for 1 hour. */
  readonly operationStore?: OperationStore
  /** Alias of `operationStore`. */
  readonly lroStore?: OperationStore
  readonly logger?: Logger
  /**
   * Run for every `/readyz` probe and for gRPC health. Default: none, so that the server is ready unless a
   * database rejects writes.
   */
  readonly readinessChecks?: readonly ReadinessCheck[]
  /**
   * Started with the server and drained when it shuts down, such as the relays and consumers of
   * `ashlar/events`. Default: none.
   */
  readonly workers?: readonly Worker[]
  readonly resilience?: ResilienceConfig
  /** Default: `updateMask: 'spec'`, bodies of at most 1 MiB, compression, no CORS. */
  readonly gateway?: GatewayConfig
  /**
   * `host:port` of a separate listener that serves Prometheus metrics at `/metrics` as plain text without
   * authorization. Choose an address that only Prometheus can reach. Default: none.
   */
  readonly metricsAddr?: string
  /** Encrypts both listeners with TLS. Default: no TLS. */
  readonly tls?: TlsConfig
  /**
   * TLS of the HTTP listener if it differs from `tls`. `'none'` serves plain HTTP, for example behind a proxy
   * on the same machine. Default: `tls`.
   */
  readonly httpTls?: TlsConfig | 'none'
  /** Limits on the resources that one client can use. */
  readonly limits?: LimitsConfig
  /**
   * The server logs a warning for a list whose statement takes at least this many milliseconds, and suggests
   * an index. `Infinity` disables the warning. Default: 1,000.
   */
  readonly slowListMs?: number
  /**
   * The time for which the server keeps serving after a shutdown begins and health reports NOT_SERVING, in
   * milliseconds. It gives load balancers time to react. The shutdown's 5 seconds begin afterwards. Default:
   * 0.
   */
  readonly shutdownDelayMs?: number
  /**
   * Serves gRPC reflection (v1 and v1alpha), which describes all services to any client. Default: true if
   * NODE_ENV is `development` or `test`.
   */
  readonly reflection?: boolean
  /**
   * Reports the reason of a denial to the caller in the response header `x-denied-because`, and in the log.
   * Default: true if NODE_ENV is `development` or `test`. Not allowed elsewhere.
   */
  readonly explainDenials?: boolean
  /**
   * Allows development-only options although NODE_ENV is neither `development` nor `test`. Default: false.
   */
  readonly allowDevelopment?: boolean
}

/** A configuration with every default filled in. */
export interface ResolvedConfig {
  readonly grpcAddr: string
  /** Empty if there is no gateway. */
  readonly httpAddr: string
  readonly rules: readonly Rule[]
  readonly authorizer: Authorizer
  readonly principalFunc: PrincipalFunc
  readonly authenticator: Authenticator | undefined
  readonly interceptors: readonly UserInterceptor[]
  readonly httpHandlers: readonly HTTPHandler[]
  readonly idempotencyStore: IdempotencyStore
  readonly operationStore: OperationStore
  readonly logger: Logger
  readonly readinessChecks: readonly ReadinessCheck[]
  readonly workers: readonly Worker[]
  readonly resilience: ResolvedResilience
  readonly gateway: ResolvedGateway
  /** Empty if there is no metrics listener. */
  readonly metricsAddr: string
  readonly tls: TlsConfig | undefined
  readonly httpTls: TlsConfig | undefined
  readonly limits: ResolvedLimits
  readonly slowListMs: number
  readonly shutdownDelayMs: number
  readonly reflection: boolean
  readonly explainDenials: boolean
  readonly allowDevelopment: boolean
}

/** The gateway's options with every default filled in. */
export type ResolvedGateway = Omit<
  GatewayOptions,
  'dispatcher' | 'methods' | 'exactPaths' | 'readiness' | 'logger' | 'unauthenticated'
> &
  ResolvedDescription &
  ResolvedProtocols

/** The gateway's protocols besides HTTP/JSON over HTTP/1.1. Undefined selects the default. */
export interface ResolvedProtocols {
  /**
   * Offers HTTP/2 to TLS clients, which select it by ALPN (RFC 7301). Default: true, unless a `node:http`
   * style handler is mounted, because Express and other frameworks that replace requests and responses do not
   * support HTTP/2.
   */
  readonly http2: boolean | undefined
  /**
   * Serves Connect and gRPC-Web at `/package.Service/Method`. Requires the package `@connectrpc/connect`.
   * Default: true if NODE_ENV is `development` or `test` and the package is installed.
   */
  readonly connect: boolean | undefined
  /**
   * Also serves gRPC on the HTTP listener, to clients that use HTTP/2 over TLS, so that one port serves
   * everything. It is slower than the listener of `grpcAddr` and does not support client streaming. Default:
   * false.
   */
  readonly grpc: boolean
}

/**
 * The gateway's own documents. Undefined selects the default, under which a route or handler with the same
 * path takes precedence.
 */
export interface ResolvedDescription {
  /**
   * Serves the OpenAPI document of the whole API at `/openapi.json` without authorization. Default: true if
   * NODE_ENV is `development` or `test`.
   */
  readonly openapi: boolean | OpenApiInfo | undefined
  /**
   * Serves a page at `/docs` for trying out requests, without authorization. Requires the package
   * `swagger-ui-dist`. Default: true if NODE_ENV is `development` or `test` and the package is installed.
   */
  readonly docs: boolean | undefined
}

export interface ResolvedResilience {
  readonly requestTimeoutMs: number
  readonly perMethodTimeoutMs: ReadonlyMap<string, number>
  readonly rateLimiter: RateLimiter | undefined
  readonly circuitBreaker: CircuitBreaker | undefined
}

/**
 * Returns the configuration with every default filled in.
 * @throws DeclarationError with every mistake found.
 */
export const resolveConfig = (config: Config): ResolvedConfig => {
  const problems = [...unknownNames(config), ...doubleNames(config), ...problemsOf(config)]
  if (problems.length > 0) throw new DeclarationError('server configuration', problems)
  return resolved(CONFIG_FIELDS, underOneName(config))
}

/** Returns how the server identifies callers. */
export const identityOf = ({ principalFunc, authenticator }: ResolvedConfig): Identity => {
  if (principalFunc === verifiedPrincipal) return authenticator === undefined ? 'nothing' : 'bearer'
  return principalFunc === devPrincipal && authenticator === undefined ? 'headers' : 'function'
}

const problemsOf = ({
  grpcAddr = '',
  httpAddr = '',
  metricsAddr = '',
  rules = [],
  httpHandlers = [],
  resilience = {},
  tls,
  httpTls,
  limits = {},
  slowListMs = 0,
  shutdownDelayMs = 0,
  ...rest
}: Config): Problem[] => {
  const { requestTimeoutMs, perMethodTimeoutMs = {} } = resilience
  const timeouts = { requestTimeoutMs, ...perMethodTimeoutMs }
  return [
    ...(grpcAddr === ''
      ? [problem('option', 'grpcAddr is empty', `give an address such as '${DefaultGRPCAddr}'`)]
      : addressProblem('grpcAddr', grpcAddr)),
    ...(httpAddr === '' ? [] : addressProblem('httpAddr', httpAddr)),
    ...(metricsAddr === '' ? [] : addressProblem('metricsAddr', metricsAddr)),
    ...(httpAddr === '' && httpHandlers.length > 0
      ? [problem('option', 'httpHandlers need an httpAddr')]
      : []),
    ...httpHandlers
      .filter(({ pattern }) => !pattern.startsWith('/'))
      .map(({ pattern }) => problem('option', `httpHandlers: pattern "${pattern}" does not begin with /`)),
    ...rules
      .filter(({ method }) => !FULL_METHOD.test(method))
      .map(({ method }) =>
        problem('option', `rules: "${method}" is not a full method name such as /package.Service/Method`),
      ),
    ...Object.keys(perMethodTimeoutMs)
      .filter((method) => !FULL_METHOD.test(method))
      .map((method) =>
        problem(
          'option',
          `resilience.perMethodTimeoutMs: "${method}" is not a full method name such as /package.Service/Method`,
        ),
      ),
    ...Object.entries(timeouts)
      .filter(([, ms]) => ms !== undefined && !(ms >= 0))
      .map(([name, ms]) =>
        problem('option', `resilience: ${name} is ${ms}`, 'give milliseconds, or NoTimeout'),
      ),
    ...(slowListMs >= 0
      ? []
      : [problem('option', `slowListMs is ${slowListMs}`, 'give milliseconds, or Infinity')]),
    ...(shutdownDelayMs >= 0 && shutdownDelayMs <= LONGEST_DELAY_MS
      ? []
      : [
          problem(
            'option',
            `shutdownDelayMs is ${shutdownDelayMs}`,
            `give milliseconds, at most ${LONGEST_DELAY_MS}`,
          ),
        ]),
    ...duplicates((rest.readinessChecks ?? []).map(({ name }) => name)).map((name) =>
      problem('option', `readinessChecks: "${name}" is listed twice`),
    ),
    ...(tls === undefined ? [] : tlsProblems('tls', tls)),
    ...(httpTls === undefined || httpTls === 'none' ? [] : tlsProblems('httpTls', httpTls)),
    ...(httpTls !== undefined && httpAddr === '' ? [problem('option', 'httpTls needs an httpAddr')] : []),
    ...updateMaskProblem(rest.gateway?.updateMask),
    ...(rest.gateway?.docs === true && rest.gateway.openapi === false
      ? [problem('option', 'gateway: docs shows what openapi serves', 'leave openapi out, or set it')]
      : []),
    ...limitProblems(limits),
  ]
}

const updateMaskProblem = (mode: string = 'spec'): Problem[] =>
  ['spec', 'strict', 'normalize'].includes(mode)
    ? []
    : [
        problem(
          'option',
          `gateway: updateMask is ${JSON.stringify(mode)}`,
          `give 'spec', 'strict' or 'normalize'`,
        ),
      ]

const FULL_METHOD = /^\/[^/\s]+\/[^/\s]+$/

/** Checks an address: `host:port`, `:port`, or `[ipv6]:port`. */
const addressProblem = (field: string, address: string): Problem[] => {
  const match = /^(?:\[[0-9A-Fa-f:.%]+\]|[^:[\]\s]*):(\d{1,5})$/.exec(address)
  if (match !== null && Number(match[1]) <= 65_535) return []
  return [
    problem(
      'option',
      `${field} "${address}" is not an address`,
      'use host:port, :port, or :0 for a free port',
    ),
  ]
}

const duplicates = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
]
