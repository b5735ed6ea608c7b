import { ClientError, Status } from 'nice-grpc'
import {
  AshlarError,
  type Code,
  CODES,
  DeadlineExceeded,
  type ErrorDetail,
  Internal,
  Unavailable,
} from '../../errors.js'
import { detailsIn } from '../../error-details.js'
import { boundedViolations } from '../../field-violations.js'
import { isInstance } from '../../faults/readable.js'

/**
 * Error codes that the caller can act on. Their messages are written for callers; messages of other codes may
 * reveal the target's internals.
 */
const OF_THE_CALL: ReadonlySet<Code> = new Set<Code>([
  ...(['INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'UNAUTHENTICATED'] as const),
  ...(['RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'] as const),
])

/**
 * Returns the error for the caller after a failed call to another server.
 * @param details - `grpc-status-details-bin` of the response.
 */
export function targetError(type: string, error: unknown, details: Uint8Array | undefined): AshlarError {
  if (!isInstance(error, ClientError) || error.code === Status.UNAVAILABLE || error.code === Status.CANCELLED)
    return new Unavailable(`the server of ${type} cannot be reached at the moment: retry later`, error)
  if (error.code === Status.DEADLINE_EXCEEDED) return new DeadlineExceeded(undefined, error)
  const code = CODE_OF.get(error.code)
  if (code === undefined || !OF_THE_CALL.has(code)) return new Internal(error)
  return new AshlarError(code, error.details, { cause: error, details: readDetails(details) })
}

const CODE_OF: ReadonlyMap<number, Code> = new Map(
  (Object.keys(CODES) as Code[]).map((name) => [CODES[name], name]),
)

const bounded = (detail: ErrorDetail): ErrorDetail =>
  detail.kind === 'badRequest' ? { ...detail, violations: boundedViolations(detail.violations) } : detail

/** Decodes the details; none if they are unreadable, because the code and message are sufficient. */
function readDetails(bytes: Uint8Array | undefined): readonly ErrorDetail[] {
  try {
    return bytes === undefined ? [] : detailsIn(bytes).map(bounded)
  } catch {
    return []
  }
}
