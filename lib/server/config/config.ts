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

/** The usual address of the gRPC listener. */
export const DefaultGRPCAddr = ':9090'

/** As a timeout: no timeout. */
export const NoTimeout = Number.POSITIVE_INFINITY

/** No platform waits longer than an hour for a process to end. */
const LONGEST_DELAY_MS = 3_600_000

/** Options for load and failing handlers. */
export interface ResilienceConfig {
  /**
   * Timeout of every unary call, and of each step before the handler of a stream, in milliseconds. Default 30
   * s, also for 0; `NoTimeout` disables it.
   */
  readonly requestTimeoutMs?: number
  /**
   * gRPC full method name → milliseconds, instead of `requestTimeoutMs`; `NoTimeout` disables it for the
   * method.
   */
  readonly perMethodTimeoutMs?: Readonly<Record<string, number>>
  /** Rejects excess load: by the caller's tenant if it is known, or else by address. Default: none. */
  readonly rateLimiter?: RateLimiter
  /** Wraps handlers just inside the framework's chain. Default: none. */
  readonly circuitBreaker?: CircuitBreaker
}

/** Options of the HTTP/JSON gateway. */
export type GatewayConfig = Partial<ResolvedGateway>

/** The configuration of a server, as you write it. */
export interface Config {
  /** TCP address such as `:9090`, or `:0` for a free port. Required; `DefaultGRPCAddr` is the usual one. */
  readonly grpcAddr?: string
  /** Address of the HTTP/JSON gateway. Default: no gateway. */
  readonly httpAddr?: string
  /** Authorization rules in addition to the registered services' rules. Default: none. */
  readonly rules?: readonly Rule[]
  /** Decides who may do what. Default: a development authorizer without grants, which denies everything. */
  readonly authorizer?: Authorizer
  /**
   * Derives the principal. Default: the verified principal with an authenticator; without one, none (every
   * non-public call is denied).
   */
  readonly principalFunc?: PrincipalFunc
  /** Verifies bearer tokens before authorization. Default: none. */
  readonly authenticator?: Authenticator
  /** Run around unary handlers, after authorization and validation. Default: none. */
  readonly interceptors?: readonly UserInterceptor[]
  /** Served beside the gateway; needs `httpAddr`. Default: none. */
  readonly httpHandlers?: readonly HTTPHandler[]
  /** Stores responses, which are replayed for repeated calls. Default: in memory, for 10 minutes. */
  readonly idempotencyStore?: IdempotencyStore
  /** The same as `idempotencyStore`. */
  readonly deduplicationStore?: IdempotencyStore
  /** Stores long-running operations (AIP-151). Default: in memory, for 1 hour. */
  readonly operationStore?: OperationStore
  /** The same as `operationStore`. */
  readonly lroStore?: OperationStore
  /** Default: JSON lines on stderr. */
  readonly logger?: Logger
  /**
   * Run for every `/readyz` probe and for gRPC health. Default: none; the server is ready unless a database
   * refuses writes.
   */
  readonly readinessChecks?: readonly ReadinessCheck[]
  /**
   * Started when the server serves, and drained when it shuts down: relays and consumers of `ashlar/events`.
   * Default: none.
   */
  readonly workers?: readonly Worker[]
  readonly resilience?: ResilienceConfig
  /** Default: `updateMask: 'spec'`, bodies of at most 1 MiB, compression, no CORS. */
  readonly gateway?: GatewayConfig
  /**
   * `host:port` of a listener of its own that serves metrics to Prometheus at `/metrics`: plain text, without
   * authorization, so bind what only Prometheus reaches. Default: none.
   */
  readonly metricsAddr?: string
  /** Encrypts both listeners. Default: none, plain text. */
  readonly tls?: TlsConfig
  /**
   * TLS of the HTTP listener, if it differs from `tls`. `'none'` serves plain HTTP, as behind a proxy on the
   * same machine. Default: `tls`.
   */
  readonly httpTls?: TlsConfig | 'none'
  /** Limits on what one client can use. */
  readonly limits?: LimitsConfig
  /**
   * The log has a warning of lists whose statement takes as long, in milliseconds, with the index that would
   * serve; `Infinity` for none. Default: 1,000.
   */
  readonly slowListMs?: number
  /**
   * The time the server continues to serve after a shutdown begins and health says NOT_SERVING, in
   * milliseconds. It gives load balancers time to notice. The 5 seconds of the shutdown begin after it.
   * Default: 0.
   */
  readonly shutdownDelayMs?: number
  /**
   * Tells any client what is served (gRPC reflection v1 and v1alpha); it is public. Default: true when
   * NODE_ENV is `development` or `test`.
   */
  readonly reflection?: boolean
  /**
   * Tells callers why they were denied, by the response header `x-denied-because`, and the log. Default: true
   * where NODE_ENV is `development` or `test`; refused elsewhere.
   */
  readonly explainDenials?: boolean
  /**
   * Lets `serve` accept what is meant for development although NODE_ENV is neither `development` nor `test`.
   * Default: false.
   */
  readonly allowDevelopment?: boolean
}

/** The configuration with all defaults. */
export interface ResolvedConfig {
  readonly grpcAddr: string
  /** Empty without a gateway. */
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
  /** Empty without the listener. */
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

/** The options of the gateway with all defaults. */
export type ResolvedGateway = Omit<
  GatewayOptions,
  'dispatcher' | 'methods' | 'exactPaths' | 'readiness' | 'logger' | 'unauthenticated'
> &
  ResolvedDescription &
  ResolvedProtocols

/** The protocols of the gateway besides HTTP/JSON over HTTP/1.1. Undefined is the default. */
export interface ResolvedProtocols {
  /**
   * Offers HTTP/2 to TLS clients, which choose it by ALPN (RFC 7301). Default: true, unless a handler in the
   * style of `node:http` is mounted, because Express and other frameworks that replace requests and responses
   * do not support HTTP/2.
   */
  readonly http2: boolean | undefined
  /**
   * Serves Connect and gRPC-Web at `/package.Service/Method`; it needs the package `@connectrpc/connect`.
   * Default: true where NODE_ENV is `development` or `test` and the package is installed.
   */
  readonly connect: boolean | undefined
  /**
   * Serves gRPC on the HTTP listener, too, beside Connect, to clients of HTTP/2 over TLS: one port for
   * everything. It is slower than the listener of `grpcAddr`, and has no streams of requests. Default: false.
   */
  readonly grpc: boolean
}

/**
 * The gateway's own documents. Undefined is the default, which gives way to a route or a handler of the same
 * path.
 */
export interface ResolvedDescription {
  /**
   * Serves the OpenAPI document, which describes the whole API, at `/openapi.json` to everyone. Default: true
   * if NODE_ENV is `development` or `test`.
   */
  readonly openapi: boolean | OpenApiInfo | undefined
  /**
   * Serves a page at `/docs`, to everyone, on which requests can be tried; it needs the package
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
 * Fills in every default.
 * @throws DeclarationError with every mistake found.
 */
export const resolveConfig = (config: Config): ResolvedConfig => {
  const problems = [...unknownNames(config), ...doubleNames(config), ...problemsOf(config)]
  if (problems.length > 0) throw new DeclarationError('server configuration', problems)
  return resolved(CONFIG_FIELDS, underOneName(config))
}

/** The means by which callers can be identified. */
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

/** `host:port`, `:port`, or `[ipv6]:port`. */
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
