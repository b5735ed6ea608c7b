/** A problem of one field of a request. */
export interface FieldViolation {
  /** The path in proto names, such as `widget.display_name`, `lines[2].quantity` or `labels["k"]`. */
  readonly field: string
  readonly description: string
  /** The machine-readable kind of the mistake in `UPPER_SNAKE_CASE`, at most 63 characters (AIP-193). */
  readonly reason?: string
}

/**
 * The maximum length of a message. gRPC sends errors in trailers. If they are longer than HTTP/2 permits,
 * they never arrive and the connection is lost.
 */
const LONGEST_TEXT = 1000

/**
 * Truncates a message and makes it well-formed. grpc-js escapes it with `encodeURI`, so that a lone surrogate
 * would end the process.
 */
export const boundedText = (text: string): string =>
  text.length <= LONGEST_TEXT
    ? text.toWellFormed()
    : `${text.slice(0, LONGEST_TEXT).toWellFormed()}… (${text.length} characters)`

/** The maximum number of violations in one error. */
export const MAX_VIOLATIONS = 100
/**
 * Maximum bytes of the violations' messages. Details are sent in a trailer, and clients accept 8 KiB of
 * trailers.
 */
const MAX_VIOLATION_BYTES = 4096
const MAX_FIELD_LENGTH = 256
const MAX_REASON_LENGTH = 63

/** Returns a field's path for sending, truncated, with the control characters in its map keys escaped. */
export const boundedField = (field: string): string =>
  field.length <= MAX_FIELD_LENGTH
    ? escaped(field.toWellFormed())
    : `${escaped(field.slice(0, MAX_FIELD_LENGTH).toWellFormed())}…`

const escaped = (field: string): string =>
  field.replace(/\p{Cc}|\p{Cf}/gu, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)

/** Converts any name to the format of AIP-193: `string.min_len` becomes `STRING_MIN_LEN`. */
const asReason = (name: string): string =>
  name
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .slice(0, MAX_REASON_LENGTH)
    .replace(/^_|_$/g, '')

/** Returns as many violations as a caller receives, but always the first. */
export function boundedViolations(violations: readonly FieldViolation[]): FieldViolation[] {
  const kept: FieldViolation[] = []
  let bytes = 0
  for (const { field, description, reason } of violations.slice(0, MAX_VIOLATIONS)) {
    const violation = {
      field: boundedField(field),
      description: boundedText(description),
      ...(reason === undefined ? {} : { reason: asReason(reason) }),
    }
    bytes += Buffer.byteLength(violation.field + violation.description + (violation.reason ?? ''))
    if (bytes > MAX_VIOLATION_BYTES && kept.length > 0) break
    kept.push(violation)
  }
  return kept
}

/** Returns the message about the fields of a unique rule; empty if the fields are not known. */
export function takenTogether(
  fields: readonly string[],
  isDeleted: boolean,
): readonly { readonly kind: 'badRequest'; readonly violations: readonly FieldViolation[] }[] {
  if (fields.length === 0) return []
  const violations = fields.map((field) => {
    const others = fields.filter((other) => other !== field)
    const together = others.length === 0 ? '' : ` together with ${others.join(', ')}`
    const by = isDeleted ? ' by a deleted resource: undelete it, or choose another' : ''
    return { field, description: `is already taken${together}${by}`, reason: 'ALREADY_EXISTS' }
  })
  return [{ kind: 'badRequest', violations: boundedViolations(violations) }]
}
