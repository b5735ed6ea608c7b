// The names that an application imports. The rest is in `ashlar/persistence`, `ashlar/secrets`,
// `ashlar/server`, `ashlar/events`, `ashlar/client`, `ashlar/migrations`, `ashlar/testing` and `ashlar/nest`:
// every name here is also exported by one of them, or by `ashlar/decorators`.

// For applications
// 1. Persistence: what a resource is, and where it lives
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

// 2. Secrets: what a client is shown once, and what can be read back
export { CredentialMinter, newDev, newVaultTransit } from './secrets/index.js'

// 3. Server: who may do what, over gRPC and HTTP
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

// 4. The command line is a program of its own: see docs/reference/cli.md.

// For libraries: what you implement to extend the framework
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
