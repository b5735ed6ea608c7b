// 1. Persistence: what an entity is, and where it lives.
export {
  CreateTime,
  Credential,
  ETag,
  Expirable,
  OutputOnly,
  Resource,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../decorators/index.js'
export {
  type BatchUpdateItem,
  type ListOptions,
  type OperationOptions,
  type Page,
  type Repository,
  SqliteDataSource,
  type WriteOptions,
} from './persistence/index.js'

// 2. Secrets: what must not come back out, and what may.
export {
  AlgoSHA384,
  AlgoSHA512_256,
  CredentialMinter,
  DefaultPrefix,
  DefaultSecretBits,
  type DevEncryptor,
  type Encryptor,
  type HashSpec,
  type MinterOptions,
  newDev,
  type StoredCredential,
} from './secrets/index.js'

// What every area speaks of: who is calling, and what went wrong.
export { ANONYMOUS, type Principal, RequestContext, type SystemScope } from './context.js'
export {
  Aborted,
  AshlarError,
  Cancelled,
  type Code,
  CODES,
  DeadlineExceeded,
  DeclarationError,
  ErrConflict,
  ErrNoEncryptor,
  ErrNoMinter,
  ErrNotFound,
  type ErrorDetail,
  ErrPreconditionFailed,
  HTTP_STATUS,
  Internal,
  InvalidArgument,
  PermissionDenied,
  ResourceExhausted,
  SecretUnreadable,
  TransitError,
  Unauthenticated,
  Unavailable,
  Unimplemented,
} from './errors.js'
