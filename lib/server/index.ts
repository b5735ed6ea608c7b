/**
 * Servers with authentication, authorization, limits, stores and errors.
 * @module
 */
export type { CorsOptions } from '../gateway/http/cors.js'
export type { FetchHandler, GatewayMux, HttpHandler, NodeHandler } from '../gateway/routing/mux.js'
export { apiKey, type ApiKeyOptions, type ApiKeyVerification } from './authn/api-key.js'
export type { ClaimMapping, ClaimReader } from './authn/claims.js'
export { devPrincipal } from './authn/dev-principal.js'
export { oidc, type OidcOptions } from './authn/oidc.js'
export type { Authenticator, Credentials } from './authn/authenticator.js'
export type { AuthorizationRequest, AuthorizedServer, Authorizer } from './authz/authorizer.js'
export { devAuthorizer, type DevAuthorizer } from './authz/dev-authorizer.js'
export type { Grant } from './authz/grant.js'
export { roleAuthorizer } from './authz/role-authorizer.js'
export type { RoleBinding, RolePermission, RolePolicy } from './authz/role-policy.js'
export {
  authorizeEntity,
  type Decision,
  type EntityDecision,
  type EntityRequest,
  type RowDecision,
} from './authz/decision.js'
export { type IfMatch, Metadata, type RestrictedOperations, type ServerCall } from '../call.js'
export { type Permission, permissionCatalog } from './permission-catalog.js'
export type { CircuitBreaker } from './interceptors/circuit-breaker.js'
export {
  type Config,
  DefaultGRPCAddr,
  type GatewayConfig,
  NoTimeout,
  type ResilienceConfig,
} from './config/config.js'
export { verifiedPrincipal } from './config/verified-principal.js'
export { type Definition, definitionOf } from './grpc/definition.js'
export {
  type Implementation,
  type MethodHandler,
  supportsIfMatch,
  supportsRowAccess,
  supportsValidateOnly,
} from './chain/handler.js'
export type { HTTPHandler } from './config/http-handler.js'
export type { PrincipalFunc, PrincipalSource } from './interceptors/authorization.js'
export { jsonLogger, type Logger, type LogLevel } from './observability/logger.js'
export type { RateLimiter } from './rate-limit/rate-limiter.js'
export type { ReadinessCheck } from './lifecycle/readiness.js'
export type { Worker } from './lifecycle/worker.js'
export type { ExternalTargetOptions, ExternalTls } from './references/external-target.js'
export type { Reference } from './references/declared-references.js'
export type { ServiceParts } from './methods/handler-of.js'
export { type StandardCall, wrapped, type WrapOptions } from './methods/wrapped.js'
export type { Rule } from './authz/rules.js'
export { inspectRules, type RuleInspection, unknownTypes } from './authz/inspect-rules.js'
export type { GatewayRegistration, Readiness, Registrar, Server, ServerCheck } from './server.js'
export type { HttpListener } from './http/mounted-gateway.js'
export { ServerBuilder } from './server-builder.js'
export type { InterceptedCall, UserInterceptor } from './chain/user-interceptor.js'
export type {
  Claim,
  ClaimOutcome,
  IdempotencyKey,
  IdempotencyStore,
  StoredReply,
} from './idempotency/idempotency-store.js'
export {
  type MemoryIdempotencyOptions,
  MemoryIdempotencyStore,
} from './idempotency/memory-idempotency-store.js'
export {
  type RedisClient,
  type RedisIdempotencyOptions,
  RedisIdempotencyStore,
} from './idempotency/redis-idempotency-store.js'
export { type SqlIdempotencyOptions, SqlIdempotencyStore } from './idempotency/sql-idempotency-store.js'
export type { LimitsConfig } from './config/limits.js'
export type { Pem, PemFile, TlsConfig } from './config/tls.js'
export type { CallOperations, OperationWork, RunningOperation } from '../call.js'
export type {
  OperationChange,
  OperationFailure,
  OperationRecord,
  OperationStatus,
  OperationStore,
  Packed,
  WorkerView,
} from './operations/operation-store.js'
export { type MemoryOperationOptions, MemoryOperationStore } from './operations/memory-operation-store.js'
export { type SqlOperationOptions, SqlOperationStore } from './operations/sql-operation-store.js'
export type { OpenApiInfo } from '../openapi/source/source.js'
export { openApi } from './openapi/open-api.js'
export { niceGrpcMiddleware } from './grpc/nice-middleware.js'
export { ANONYMOUS, type Principal, RequestContext, type SystemScope } from '../context.js'
export {
  Aborted,
  AshlarError,
  Cancelled,
  type Code,
  CODES,
  DeadlineExceeded,
  DeclarationError,
  type ErrorDetail,
  type FieldViolation,
  Internal,
  InvalidArgument,
  PermissionDenied,
  type Problem,
  type ProblemKind,
  ResourceExhausted,
  Unauthenticated,
  Unavailable,
  Unimplemented,
} from '../errors.js'
