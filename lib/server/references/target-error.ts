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
 * Codes that say what the caller has to change. Their texts are for the caller; others may be about the
 * target's inside.
 */
const OF_THE_CALL: ReadonlySet<Code> = new Set<Code>([
  ...(['INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'UNAUTHENTICATED'] as const),
  ...(['RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'] as const),
])

/**
 * The error that the caller receives if a call to another server failed.
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

/** None where they cannot be read: the code and the text say enough. */
function readDetails(bytes: Uint8Array | undefined): readonly ErrorDetail[] {
  try {
    return bytes === undefined ? [] : detailsIn(bytes).map(bounded)
  } catch {
    return []
  }
}
