import type { Answer, Call, Interceptor, Next } from './chain/interceptor.js'
import { authentication } from './interceptors/authentication.js'
import { authorization } from './interceptors/authorization.js'
import { circuitBreaker } from './interceptors/circuit-breaker.js'
import { errorMapper } from './interceptors/error-mapper.js'
import { etag } from './interceptors/etag.js'
import { fieldMask } from './interceptors/field-mask.js'
import { idempotency } from './interceptors/idempotency.js'
import { logging } from './interceptors/logging.js'
import { payloads } from './interceptors/payloads.js'
import { rateLimit } from './interceptors/rate-limit.js'
import { readMask } from './interceptors/read-mask.js'
import { requestId } from './interceptors/request-id.js'
import { tenantId } from './interceptors/tenant-id.js'
import { tracing } from './interceptors/tracing.js'
import { timeout } from './interceptors/timeout.js'
import { userInterceptors } from './interceptors/user-interceptors.js'
import { validateOnly } from './interceptors/validate-only.js'
import { systemReport } from './observability/system-report.js'
import type { ChainParts } from './chain-parts.js'

type AnyLink = (call: Call, next: Next<Call>) => Answer

/** Links in the order in which a call meets them. `Has` is what the links so far have put on the call. */
export class Chain<Has extends object = object> {
  readonly #links: readonly AnyLink[]

  constructor(links: readonly AnyLink[] = []) {
    this.#links = links
  }

  /** The chain with one more link inside. Does not compile when the link needs what no link before it adds. */
  link<Adds extends object, Needs extends object>(
    interceptor: Interceptor<Adds, Needs> & (Call & Has extends Needs ? unknown : never),
  ): Chain<Has & Adds> {
    return new Chain<Has & Adds>([...this.#links, interceptor as unknown as AnyLink])
  }

  /** Composed once: the links around the handler as one function. */
  around(handler: Next<Call & Has>): Next<Call> {
    return this.#links.reduceRight<Next<Call>>(
      (next, link) => (call) => link(call, next),
      handler as Next<Call>,
    )
  }
}

/** The framework's chain, outermost first. Every link is always there; one that is not configured passes through. */
export const frameworkChain = (parts: ChainParts) =>
  new Chain()
    .link(tracing(parts.telemetryOf))
    .link(logging(parts.logger))
    .link(requestId(parts.timeoutMsOf, parts.openCalls))
    .link(payloads(parts.logger, parts.redaction))
    .link(errorMapper(parts.logger))
    .link(tenantId(parts.authenticator !== undefined))
    .link(rateLimit(parts.rateLimiter, parts.logger, parts.identity))
    .link(authentication(parts.authenticator, parts.logger))
    .link(authorization(parts.rules, parts.principalFunc, parts.authorizer, systemReport(parts.logger)))
    .link(fieldMask())
    .link(etag(parts.handlerOf))
    .link(readMask())
    .link(validateOnly(parts.handlerOf))
    .link(idempotency(parts.deduplicationStore, parts.redaction, parts.logger))
    .link(userInterceptors(parts.interceptors))
    .link(circuitBreaker(parts.circuitBreaker))
    .link(timeout())
