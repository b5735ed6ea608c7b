export type { CorsOptions } from '../gateway/cors.js'
export type { FetchHandler, GatewayMux, HttpHandler, NodeHandler } from '../gateway/mux.js'
export { apiKey, type ApiKeyOptions, type ApiKeyVerification } from './authn/api-key.js'
export type { ClaimMapping, ClaimReader } from './authn/claims.js'
export { devPrincipal } from './authn/dev-principal.js'
export { oidc, type OidcOptions } from './authn/oidc.js'
export type { Authenticator, Credentials } from './authenticator.js'
export {
  type AuthorizationRequest,
  type Authorizer,
  devAuthorizer,
  type DevAuthorizer,
  type Grant,
} from './authorizer.js'
export { type IfMatch, Metadata, type ServerCall } from './call.js'
export { type Permission, permissionCatalog } from './catalog.js'
export type { CircuitBreaker } from './circuit-breaker.js'
export {
  type Config,
  DefaultGRPCAddr,
  type GatewayConfig,
  NoTimeout,
  type ResilienceConfig,
  verifiedPrincipal,
} from './config.js'
export { type Definition, definitionOf } from './definition.js'
export { type Implementation, type MethodHandler, supportsIfMatch, supportsValidateOnly } from './handler.js'
export type { HTTPHandler } from './http-handler.js'
export type { PrincipalFunc, PrincipalSource } from './interceptors/authorization.js'
export { jsonLogger, type Logger, type LogLevel } from './logger.js'
export type { RateLimiter } from './rate-limiter.js'
export type { ReadinessCheck } from './readiness.js'
export type { Reference } from './references.js'
export type { ServiceParts } from './registry.js'
export type { Rule } from './rules.js'
export type { GatewayRegistration, Readiness, Registrar, Server } from './server.js'
export type { HttpListener } from './mounted-gateway.js'
export { ServerBuilder } from './server-builder.js'
export type { InterceptedCall, UserInterceptor } from './user-interceptor.js'
export type {
  Claim,
  ClaimOutcome,
  DeduplicationKey,
  DeduplicationStore,
  StoredReply,
} from './stores/deduplication-store.js'
export {
  type MemoryDeduplicationOptions,
  MemoryDeduplicationStore,
} from './stores/memory-deduplication-store.js'
export {
  type RedisClient,
  type RedisDeduplicationOptions,
  RedisDeduplicationStore,
} from './stores/redis-deduplication-store.js'
export { type SqlDeduplicationOptions, SqlDeduplicationStore } from './stores/sql-deduplication-store.js'
export type { LimitsConfig } from './limits.js'
export type { Pem, TlsConfig } from './tls.js'
export type { CallOperations, OperationWork, RunningOperation } from './operation-runner.js'
export type {
  OperationChange,
  OperationFailure,
  OperationRecord,
  OperationStatus,
  OperationStore,
  Packed,
  WorkerView,
} from './stores/operation-store.js'
export { type MemoryOperationOptions, MemoryOperationStore } from './stores/memory-operation-store.js'
export { type SqlOperationOptions, SqlOperationStore } from './stores/sql-operation-store.js'
export { niceGrpcMiddleware } from './nice-middleware.js'
