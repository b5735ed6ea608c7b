import type { Redaction } from '../resource/redaction.js'
import type { Authenticator } from './authn/authenticator.js'
import type { Authorizer } from './authz/authorizer.js'
import type { CircuitBreaker } from './interceptors/circuit-breaker.js'
import type { OtherReads } from './row-access/other-reads.js'
import type { ReferenceDecisions } from './row-access/reference-decisions.js'
import type { RelatedLists } from './expansion/related-lists.js'
import type { PrincipalFunc } from './interceptors/authorization.js'
import type { Related } from './interceptors/read-mask.js'
import type { Identity } from './interceptors/rate-limit.js'
import type { ResolvedLimits } from './config/limits.js'
import type { Logger } from './observability/logger.js'
import type { IdempotencyStore } from './idempotency/idempotency-store.js'
import type { RateLimiter } from './rate-limit/rate-limiter.js'
import type { RuleSet } from './authz/rules.js'
import type { Telemetry } from './observability/telemetry.js'
import type { MessageRules } from './validation/protovalidate.js'
import type { UserInterceptor } from './chain/user-interceptor.js'

/** The parts that the interceptors use. If a part is undefined, its interceptor is omitted. */
export interface ChainParts {
  readonly logger: Logger
  readonly limits: Pick<ResolvedLimits, 'maxResponseBytes'>
  readonly telemetry: Telemetry | undefined
  readonly rateLimiter: RateLimiter | undefined
  readonly identity: Identity
  readonly authenticator: Authenticator | undefined
  readonly rules: RuleSet
  readonly principalFunc: PrincipalFunc
  readonly authorizer: Authorizer
  readonly explainDenials: boolean
  readonly interceptors: readonly UserInterceptor[]
  readonly circuitBreaker: CircuitBreaker | undefined
  readonly idempotencyStore: IdempotencyStore
  readonly redaction: Redaction
  readonly related: Related
  readonly relatedLists: RelatedLists
  readonly otherReads: OtherReads
  readonly sharedWrites: ReadonlySet<string>
  readonly referenceDecisions: ReferenceDecisions
  /** The rules of `buf.validate`; undefined if no message has any. */
  readonly messageRules: MessageRules | undefined
}
