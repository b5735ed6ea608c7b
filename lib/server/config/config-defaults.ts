import { isDevelopment } from './development.js'
import { devAuthorizer } from '../authz/dev-authorizer.js'
import { DefaultIdempotencyStore } from '../idempotency/memory-idempotency-store.js'
import { jsonLogger } from '../observability/logger.js'
import { MemoryOperationStore } from '../operations/memory-operation-store.js'
import type {
  GatewayConfig,
  ResilienceConfig,
  ResolvedConfig,
  ResolvedGateway,
  ResolvedResilience,
} from './config.js'
import type { PlainConfig } from './config-names.js'
import { documentedNumber, type Fields, MIB, resolved } from './config-field.js'
import { LIMIT_FIELDS } from './limits.js'
import type { OpenApiInfo } from '../../openapi/source/source.js'
import { verifiedPrincipal } from './verified-principal.js'

const DEFAULT_REQUEST_TIMEOUT_MS = 30_000

const orDefault = (ms: number | undefined): number =>
  ms === undefined || ms === 0 ? DEFAULT_REQUEST_TIMEOUT_MS : ms

/** All fields of `ResilienceConfig`. */
export const RESILIENCE_FIELDS: Fields<ResilienceConfig, ResolvedResilience> = {
  requestTimeoutMs: {
    documented: documentedNumber(DEFAULT_REQUEST_TIMEOUT_MS),
    resolve: ({ requestTimeoutMs }) => orDefault(requestTimeoutMs),
  },
  perMethodTimeoutMs: {
    documented: 'none',
    resolve: ({ perMethodTimeoutMs = {} }) =>
      new Map(Object.entries(perMethodTimeoutMs).map(([method, ms]) => [method, orDefault(ms)])),
  },
  rateLimiter: { documented: 'none', resolve: ({ rateLimiter }) => rateLimiter },
  circuitBreaker: { documented: 'none', resolve: ({ circuitBreaker }) => circuitBreaker },
}

/** All fields of `OpenApiInfo`. */
const OPENAPI_FIELDS: Fields<OpenApiInfo, OpenApiInfo & Record<keyof OpenApiInfo, unknown>> = {
  title: { documented: 'the packages of the services', resolve: ({ title }) => title },
  version: { documented: 'the version of the first package', resolve: ({ version }) => version },
  description: { documented: 'none', resolve: ({ description }) => description },
  license: { documented: 'none', resolve: ({ license }) => license },
  servers: { documented: 'the origin of the document', resolve: ({ servers }) => servers },
  securitySchemes: { documented: 'those of the server', resolve: ({ securitySchemes }) => securitySchemes },
  image: { documented: 'none', resolve: ({ image }) => image },
}

/** All fields of `GatewayConfig`. */
export const GATEWAY_FIELDS: Fields<GatewayConfig, ResolvedGateway> = {
  updateMask: { documented: '`spec`', resolve: ({ updateMask = 'spec' }) => updateMask },
  maxBodyBytes: { documented: documentedNumber(MIB), resolve: ({ maxBodyBytes = MIB }) => maxBodyBytes },
  compress: { documented: 'true', resolve: ({ compress = true }) => compress },
  cors: { documented: 'none', resolve: ({ cors }) => cors },
  forwardHeaders: { documented: 'none', resolve: ({ forwardHeaders = [] }) => forwardHeaders },
  responseHeaders: { documented: 'none', resolve: ({ responseHeaders = [] }) => responseHeaders },
  onIgnoredMask: { documented: 'none', resolve: ({ onIgnoredMask }) => onIgnoredMask },
  http2: {
    documented: 'true if no handler in the style of `node:http` is mounted',
    resolve: ({ http2 }) => http2,
  },
  connect: {
    documented: 'true if NODE_ENV is `development` or `test` and the package is installed',
    resolve: ({ connect }) => connect,
  },
  grpc: { documented: 'false', resolve: ({ grpc = false }) => grpc },
  openapi: {
    documented: 'true if NODE_ENV is `development` or `test`',
    resolve: ({ openapi }) => openapi,
    fields: OPENAPI_FIELDS,
  },
  docs: { documented: 'like `openapi`, if the package is installed', resolve: ({ docs }) => docs },
}

/**
 * All fields of `Config` except aliases. Names, defaults and the documentation's table are derived from this
 * object.
 */
export const CONFIG_FIELDS: Fields<PlainConfig, ResolvedConfig> = {
  grpcAddr: { documented: 'required', resolve: ({ grpcAddr = '' }) => grpcAddr },
  httpAddr: { documented: 'no gateway', resolve: ({ httpAddr = '' }) => httpAddr },
  rules: { documented: 'none', resolve: ({ rules = [] }) => rules },
  authorizer: {
    documented: 'denies everything',
    resolve: ({ authorizer = devAuthorizer() }) => authorizer,
  },
  principalFunc: {
    documented: 'the verified principal, or none',
    resolve: ({ principalFunc = verifiedPrincipal }) => principalFunc,
  },
  authenticator: { documented: 'none', resolve: ({ authenticator }) => authenticator },
  interceptors: { documented: 'none', resolve: ({ interceptors = [] }) => interceptors },
  httpHandlers: { documented: 'none', resolve: ({ httpHandlers = [] }) => httpHandlers },
  idempotencyStore: {
    documented: 'in memory, 10 minutes',
    resolve: ({ idempotencyStore = new DefaultIdempotencyStore() }) => idempotencyStore,
  },
  operationStore: {
    documented: 'in memory, 1 hour',
    resolve: ({ operationStore = new MemoryOperationStore() }) => operationStore,
  },
  logger: { documented: 'JSON lines on stderr', resolve: ({ logger = jsonLogger() }) => logger },
  readinessChecks: {
    documented: 'none, always ready',
    resolve: ({ readinessChecks = [] }) => readinessChecks,
  },
  workers: { documented: 'none', resolve: ({ workers = [] }) => workers },
  resilience: {
    documented: '',
    resolve: ({ resilience = {} }) => resolved(RESILIENCE_FIELDS, resilience),
    fields: RESILIENCE_FIELDS,
  },
  gateway: {
    documented: 'see [Gateway](gateway.md)',
    resolve: ({ gateway = {} }) => resolved(GATEWAY_FIELDS, gateway),
    fields: GATEWAY_FIELDS,
  },
  metricsAddr: { documented: 'none', resolve: ({ metricsAddr = '' }) => metricsAddr },
  tls: { documented: 'none, plain text', resolve: ({ tls }) => tls },
  httpTls: {
    documented: 'the value of `tls`',
    resolve: ({ tls, httpTls = tls }) => (httpTls === 'none' ? undefined : httpTls),
  },
  limits: {
    documented: 'see [limits](limits.md#limits)',
    resolve: ({ limits = {} }) => resolved(LIMIT_FIELDS, limits),
    fields: LIMIT_FIELDS,
  },
  slowListMs: {
    documented: documentedNumber(1_000),
    resolve: ({ slowListMs = 1_000 }) => slowListMs,
  },
  shutdownDelayMs: { documented: '0', resolve: ({ shutdownDelayMs = 0 }) => shutdownDelayMs },
  reflection: {
    documented: 'true if NODE_ENV is `development` or `test`',
    resolve: ({ reflection = isDevelopment() }) => reflection,
  },
  explainDenials: {
    documented: 'true if NODE_ENV is `development` or `test`',
    resolve: ({ explainDenials = isDevelopment() }) => explainDenials,
  },
  allowDevelopment: { documented: 'false', resolve: ({ allowDevelopment = false }) => allowDevelopment },
}
