/**
 * The names that most applications import. Further names are exported by `ashlar/persistence`,
 * `ashlar/secrets`, `ashlar/server`, `ashlar/events`, `ashlar/client`, `ashlar/migrations`, `ashlar/testing`
 * and `ashlar/nest`. Every name here is also exported by one of them, or by `ashlar/decorators`.
 * @module
 */

// For applications
// 1. Persistence: resources and their repositories
export {
  CreateTime,
  Credential,
  Emits,
  ETag,
  Expirable,
  OutputOnly,
  Resource,
  Searchable,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../decorators/index.js'
export {
  createTables,
  filter,
  HotDataSource,
  increment,
  type ListOptions,
  memoryRepositoryOf,
  type Page,
  repositoryFor,
  repositoryOf,
  SqliteDataSource,
  transaction,
} from './persistence/index.js'
export { ErrConflict, ErrNotFound, ErrPreconditionFailed } from './errors.js'

// 2. Secrets: credentials and encrypted values
export { CredentialMinter, newDev, newVaultTransit } from './secrets/index.js'

// 3. Server: authentication, authorization, gRPC and HTTP
export {
  apiKey,
  type Config,
  definitionOf,
  devAuthorizer,
  devPrincipal,
  type Grant,
  type HTTPHandler,
  type Implementation,
  jsonLogger,
  oidc,
  type ReadinessCheck,
  roleAuthorizer,
  type Rule,
  type Server,
  ServerBuilder,
  type ServerCall,
  supportsIfMatch,
  supportsRowAccess,
  supportsValidateOnly,
  verifiedPrincipal,
  wrapped,
} from './server/index.js'
export { type Principal, RequestContext } from './context.js'
export {
  Aborted,
  AshlarError,
  InvalidArgument,
  PermissionDenied,
  ResourceExhausted,
  Unauthenticated,
  Unavailable,
} from './errors.js'

// 4. The command line is a separate program: see docs/reference/cli.md.

// For libraries: interfaces that you implement to extend the framework
// 1. Persistence
export type { Repository } from './persistence/index.js'

// 2. Secrets
export type { Encryptor } from './secrets/index.js'

// 3. Server
export type {
  Authenticator,
  Authorizer,
  CircuitBreaker,
  IdempotencyStore,
  Logger,
  OperationStore,
  PrincipalFunc,
  RateLimiter,
  UserInterceptor,
} from './server/index.js'
