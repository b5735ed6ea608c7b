import { Chain } from './chain/chain.js'
import { authentication } from './interceptors/authentication.js'
import { authorization } from './interceptors/authorization.js'
import { circuitBreaker } from './interceptors/circuit-breaker.js'
import { deadline } from './interceptors/call-deadline.js'
import { errorMapper } from './interceptors/error-mapper.js'
import { etag } from './interceptors/etag.js'
import { fieldMask } from './interceptors/field-mask.js'
import { idempotency } from './interceptors/idempotency.js'
import { logging } from './interceptors/logging.js'
import { rateLimit } from './interceptors/rate-limit.js'
import { readMask } from './interceptors/read-mask.js'
import { requestId } from './interceptors/request-id.js'
import { tenantId } from './interceptors/tenant-id.js'
import { tracing } from './interceptors/tracing.js'
import { timeout } from './interceptors/timeout.js'
import { userInterceptors } from './interceptors/user-interceptors.js'
import { validateOnly } from './interceptors/validate-only.js'
import { contextReports } from './observability/context-reports.js'
import { validation } from './validation/validation.js'
import type { ChainParts } from './chain-parts.js'

/**
 * Returns the framework's chain, outermost interceptor first. Interceptors without configuration are omitted.
 * An interceptor that has nothing to do for a method does not run for its calls.
 */
export const frameworkChain = ({ logger, ...parts }: ChainParts) =>
  new Chain()
    .add('tracing', parts.telemetry && tracing(parts.telemetry))
    .add('requestId', requestId())
    .add('logging', logging(logger, parts.redaction))
    .add('deadline', deadline())
    .add('errorMapper', errorMapper(logger, parts.limits.maxResponseBytes))
    .add('tenantId', tenantId(parts.authenticator !== undefined))
    .add('rateLimit', parts.rateLimiter && rateLimit(parts.rateLimiter, logger, parts.identity))
    .add('authentication', parts.authenticator && authentication(parts.authenticator, logger))
    .add(
      'authorization',
      authorization(
        parts.rules,
        parts.principalFunc,
        {
          authorizer: parts.authorizer,
          explainsDenials: parts.explainDenials,
          relatedLists: parts.relatedLists,
          otherReads: parts.otherReads,
          sharedWrites: parts.sharedWrites,
          references: parts.referenceDecisions,
        },
        contextReports(logger),
      ),
    )
    .add('fieldMask', fieldMask())
    .add('validation', validation(parts.messageRules))
    .add('etag', etag())
    .add('readMask', readMask(parts.related))
    .add('validateOnly', validateOnly())
    .add('idempotency', idempotency(parts.idempotencyStore, parts.redaction, logger, parts.rules))
    .add('userInterceptors', parts.interceptors.length > 0 ? userInterceptors(parts.interceptors) : undefined)
    .add('circuitBreaker', parts.circuitBreaker && circuitBreaker(parts.circuitBreaker))
    .add('timeout', timeout(parts.interceptors.length > 0 || parts.circuitBreaker !== undefined))
