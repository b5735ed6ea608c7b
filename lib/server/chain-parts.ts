import type { Redaction } from '../resource/redaction.js'
import type { Authenticator } from './authenticator.js'
import type { Authorizer } from './authorizer.js'
import type { CircuitBreaker } from './circuit-breaker.js'
import type { Deadline } from './deadline.js'
import type { Handler } from './handler.js'
import type { PrincipalFunc } from './interceptors/authorization.js'
import type { Identity } from './interceptors/rate-limit.js'
import type { Logger } from './logger.js'
import type { Method } from './method.js'
import type { DeduplicationStore } from './stores/deduplication-store.js'
import type { RateLimiter } from './rate-limiter.js'
import type { RuleSet } from './rules.js'
import type { Telemetry } from './telemetry.js'
import type { UserInterceptor } from './user-interceptor.js'

/** What the links of the chain work with. An absent part leaves its link passing through. */
export interface ChainParts {
  readonly logger: Logger
  readonly telemetryOf: () => Telemetry | undefined
  readonly timeoutMsOf: (method: Method) => number
  /** The times of the calls that are not answered yet. */
  readonly openCalls: Set<Deadline>
  readonly rateLimiter: RateLimiter | undefined
  readonly identity: Identity
  readonly authenticator: Authenticator | undefined
  readonly rules: RuleSet
  readonly principalFunc: PrincipalFunc
  readonly authorizer: Authorizer
  readonly handlerOf: (method: Method) => Handler
  readonly interceptors: readonly UserInterceptor[]
  readonly circuitBreaker: CircuitBreaker | undefined
  readonly deduplicationStore: DeduplicationStore
  readonly redaction: Redaction
}
