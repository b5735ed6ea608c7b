/**
 * All errors that a caller can receive. Their messages are safe for a remote caller; a driver's message is
 * only in `cause`. Programming mistakes (a key of 31 bytes, an empty address) are a `TypeError` or
 * `RangeError` at startup instead.
 */

import type { ErrorDetail } from './error-detail.js'
import {
  boundedField,
  boundedText,
  boundedViolations,
  type FieldViolation,
  takenTogether,
} from './field-violations.js'
import { type Code, HTTP_STATUS } from './status-codes.js'

export { type Code, CODES, HTTP_STATUS } from './status-codes.js'
export {
  DeclarationError,
  type DeclaredProblem,
  distinctProblems,
  inEntity,
  type Problem,
  problem,
  type ProblemKind,
  propertyProblem,
} from './declaration-error.js'
export { OptionError } from './option-error.js'
export type { ErrorDetail } from './error-detail.js'
export type { FieldViolation } from './field-violations.js'

/** The domain of every ErrorInfo that this framework sends. */
export const ERROR_DOMAIN = 'ashlar'

const BASE = Symbol.for('ashlar.error')

/**
 * The base class of all errors below. `wireMessage` is the message for remote callers.
 *
 * @example
 * ```ts
 * import { AshlarError } from 'ashlar'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export async function exists(widgets: WidgetRepository, id: string): Promise<boolean> {
 *   try {
 *     await widgets.get(id)
 *     return true
 *   } catch (error) {
 *     if (error instanceof AshlarError && error.code === 'NOT_FOUND') return false
 *     throw error
 *   }
 * }
 * ```
 */
export class AshlarError extends Error {
  readonly code: Code
  readonly wireMessage: string
  readonly details: readonly ErrorDetail[]

  constructor(code: Code, message: string, options: ErrorShape = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.wireMessage = boundedText(options.wireMessage ?? message)
    this.details = options.details ?? []
  }

  /**
   * Also true for errors of another copy of this package in the process, whose classes have the same names.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Function.prototype[Symbol.hasInstance].call(this, value) || isOfOtherCopy(value, this.name)
  }

  /** The base class in the error's own copy of the package. @internal */
  get [BASE](): typeof AshlarError {
    return AshlarError
  }
}

/**
 * Returns true if the error comes from another copy of this package.
 * @param name - the name of its class or of a base class.
 */
function isOfOtherCopy(value: unknown, name: string): boolean {
  if (!(value instanceof Error)) return false
  try {
    const base = (value as Partial<AshlarError>)[BASE]
    if (base === undefined || base === AshlarError) return false
    for (let at: unknown = value.constructor; at !== null && at !== Error; at = Object.getPrototypeOf(at))
      if ((at as { readonly name?: unknown }).name === name) return true
  } catch {
    // An unreadable value is not an error of this package.
  }
  return false
}

/** @inline */
interface ErrorShape {
  readonly cause?: unknown
  readonly wireMessage?: string
  readonly details?: readonly ErrorDetail[]
}

/**
 * Returns the HTTP status of an error: 412 for an etag that does not match, and otherwise by google.rpc.Code.
 */
export const httpStatusOf = ({ code, details }: AshlarError): number => {
  const isEtag = details.some((detail) => detail.kind === 'preconditionFailure' && detail.type === 'ETAG')
  return isEtag && code === 'FAILED_PRECONDITION' ? 412 : HTTP_STATUS[code]
}

/**
 * Returns the headers that an error needs over HTTP (RFC 6750 section 3, RFC 9110 section 10.2.3), in lower
 * case.
 */
export const httpHeadersOf = ({ code, details }: AshlarError): Record<string, string> => {
  const retry = details.find((detail) => detail.kind === 'retryInfo')
  return {
    'cache-control': 'no-store',
    ...(code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {}),
    ...(retry === undefined ? {} : { 'retry-after': String(Math.ceil(retry.delayMs / 1000)) }),
  }
}

/** No live entity of the tenant has the key. */
export class ErrNotFound extends AshlarError {
  constructor(cause?: unknown) {
    super('NOT_FOUND', 'persistence: not found', sentinel('not found', 'NOT_FOUND', cause))
  }
}

/** Another row already has a value that must be unique. */
export class ErrConflict extends AshlarError {
  /**
   * The fields of the unique rule by proto name, such as `['project_id', 'title']`. Empty if the rule spans
   * tenants or if the database does not report the rule.
   */
  readonly fields: readonly string[]

  /**
   * @param isDeleted - true if a soft-deleted row has the values and the caller may know that.
   * @param excludesKey - true if the rule is known not to be the key.
   */
  constructor(
    cause?: unknown,
    fields: readonly string[] = [],
    readonly isDeleted = false,
    readonly excludesKey = false,
  ) {
    const shape = sentinel('already exists', 'ALREADY_EXISTS', cause)
    const details = [...shape.details, ...takenTogether(fields, isDeleted)]
    super('ALREADY_EXISTS', 'persistence: conflict', { ...shape, details })
    this.fields = fields
  }
}

/** A foreign key, a NOT NULL column, a CHECK or an etag prevents the write. */
export class ErrPreconditionFailed extends AshlarError {
  constructor(cause?: unknown, violations: readonly ErrorDetail[] = []) {
    const shape = sentinel('precondition failed', 'PRECONDITION_FAILED', cause)
    super('FAILED_PRECONDITION', 'persistence: precondition failed', {
      ...shape,
      details: [...shape.details, ...violations],
    })
  }

  /** Returns the error for an etag that is not the current one (AIP-154); HTTP 412. */
  static etag(): ErrPreconditionFailed {
    const description = 'the etag does not match the current one: read the resource again and retry'
    return new ErrPreconditionFailed(undefined, [
      { kind: 'preconditionFailure', type: 'ETAG', subject: 'etag', description },
    ])
  }
}

const sentinel = (wireMessage: string, reason: string, cause: unknown) =>
  ({ wireMessage, cause, details: [{ kind: 'errorInfo', reason }] }) as const

/**
 * A value of the request is invalid. `field` is its path in proto names, or `''` if the problem concerns no
 * single field.
 */
export class InvalidArgument extends AshlarError {
  readonly field: string

  /** @param violations - all violations, if there are others than this one. */
  constructor(field: string, description: string, cause?: unknown, violations?: readonly FieldViolation[]) {
    const own = field === '' ? [] : [{ field: boundedField(field), description: boundedText(description) }]
    const all = violations ?? own
    super('INVALID_ARGUMENT', field === '' ? description : `${field}: ${description}`, {
      cause,
      details: all.length === 0 ? [] : [{ kind: 'badRequest', violations: all }],
    })
    this.field = field
  }

  /**
   * Returns one error with all violations of a request, as the framework's validation does. For
   * implementations, hooks and overrides. A caller receives at most 100 violations, and at most 4 KiB of
   * them.
   * @throws TypeError without violations.
   * @example
   * ```ts
   * import { InvalidArgument } from 'ashlar'
   * import type { FieldViolation } from 'ashlar/server'
   *
   * export function checkOrder(order: { quantity: number; note: string }): void {
   *   const violations: FieldViolation[] = []
   *   if (order.quantity <= 0)
   *     violations.push({ field: 'order.quantity', reason: 'NOT_POSITIVE', description: 'has to be positive' })
   *   if (order.note.includes('<'))
   *     violations.push({ field: 'order.note', reason: 'MARKUP', description: 'must not contain markup' })
   *   if (violations.length > 0) throw InvalidArgument.of(violations)
   * }
   * ```
   */
  static of(violations: readonly FieldViolation[]): InvalidArgument {
    const [first] = violations
    if (first === undefined) throw new TypeError('InvalidArgument.of needs at least one violation')
    const more = violations.length === 1 ? '' : ` (and ${violations.length - 1} more)`
    const text = boundedText(`${first.description}${more}`)
    return new InvalidArgument(boundedField(first.field), text, undefined, boundedViolations(violations))
  }
}

/** The caller does not have the permission. The error never reveals whether the resource exists (AIP-211). */
export class PermissionDenied extends AshlarError {
  constructor(message = 'permission denied') {
    super('PERMISSION_DENIED', message)
  }
}

/** The identity is missing or invalid. */
export class Unauthenticated extends AshlarError {
  constructor(message = 'invalid bearer token', cause?: unknown) {
    super('UNAUTHENTICATED', message, { cause })
  }
}

export class Unimplemented extends AshlarError {
  constructor(message: string, cause?: unknown) {
    super('UNIMPLEMENTED', message, { cause })
  }
}

/** Concurrent writers blocked the call until its retries were exhausted. The caller may retry. */
export class Aborted extends AshlarError {
  constructor(message = 'aborted by a concurrent change: retry', cause?: unknown) {
    super('ABORTED', message, { cause })
  }
}

export class ResourceExhausted extends AshlarError {
  constructor(message: string, retryAfterMs?: number) {
    super('RESOURCE_EXHAUSTED', message, {
      details: retryAfterMs === undefined ? [] : [{ kind: 'retryInfo', delayMs: retryAfterMs }],
    })
  }
}

export class DeadlineExceeded extends AshlarError {
  constructor(message = 'deadline exceeded', cause?: unknown) {
    super('DEADLINE_EXCEEDED', message, { cause })
  }
}

export class Cancelled extends AshlarError {
  constructor(cause?: unknown) {
    super('CANCELLED', 'the call was cancelled', { cause })
  }
}

export class Unavailable extends AshlarError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause })
  }
}

/**
 * The connection was lost during a write, which may have been saved. Therefore the write must not be
 * repeated.
 */
export class UnknownOutcome extends Unavailable {}

/** The server failed. The caller receives a generic message; `cause` is for the log. */
export class Internal extends AshlarError {
  constructor(cause?: unknown) {
    super('INTERNAL', 'internal error', { cause })
  }
}

/** A resource with credential fields requires a CredentialMinter. */
export class ErrNoMinter extends AshlarError {
  constructor() {
    super('INTERNAL', 'secrets: no credential minter', { wireMessage: 'internal error' })
  }
}

/** A secret cannot be written because the repository has no Encryptor. */
export class ErrNoEncryptor extends AshlarError {
  constructor() {
    super('INTERNAL', 'secrets: no encryptor', { wireMessage: 'internal error' })
  }
}

/**
 * A stored credential or ciphertext cannot be decoded: it was altered, truncated, malformed or created with
 * another key.
 */
export class SecretUnreadable extends AshlarError {
  constructor(problem: string, cause?: unknown) {
    super('INTERNAL', `secrets: ${problem}`, { wireMessage: 'internal error', cause })
  }
}

/** An error of a transit server. It never contains its token or a plaintext. */
export class TransitError extends AshlarError {
  /** The HTTP status; undefined if there was no response. */
  readonly statusCode: number | undefined
  /** The response's body, truncated and without secrets. */
  readonly body: string
  /**
   * The reason as one word that is the same for all calls: `sealed`, `timeout`, a code such as
   * `ECONNREFUSED`, or otherwise the status.
   */
  readonly reason: string
  /** The index of the failed item in a batch. */
  readonly item: number | undefined
  /** The field of the resource whose value failed, for the log; undefined if it is not known. */
  readonly field: string | undefined

  constructor(
    problem: string,
    response: {
      readonly statusCode?: number | undefined
      readonly body?: string
      readonly reason?: string
      readonly item?: number | undefined
      readonly field?: string | undefined
      /** True if a proxy in front of the server has responded in its place. */
      readonly isOutage?: boolean
    } = {},
    cause?: unknown,
  ) {
    const { statusCode, item, isOutage = false } = response
    // 412 and 473 come from a standby that lags behind or cannot respond. An item that fails separately would
    // fail again, whatever the status.
    const isBusy = statusCode === undefined || [412, 429, 473].includes(statusCode) || statusCode >= 500
    const busy = isOutage || (item === undefined && isBusy)
    super(busy ? 'UNAVAILABLE' : 'INTERNAL', `transit: ${problem}`, {
      wireMessage: busy ? 'temporarily unavailable' : 'internal error',
      cause,
    })
    this.statusCode = response.statusCode
    this.body = response.body ?? ''
    this.reason = response.reason ?? String(statusCode ?? problem)
    this.item = response.item
    this.field = response.field
  }

  /** Returns the same error for another item. */
  atItem(item: number): TransitError {
    return this.#with({ item })
  }

  /** Returns the same error with the field of the item. */
  forField(field: string): TransitError {
    return this.#with({ field })
  }

  #with(changed: { readonly item?: number; readonly field?: string }): TransitError {
    const { statusCode, body, reason, item, field } = this
    const problem = this.message.replace(/^transit: /, '')
    return new TransitError(problem, { statusCode, body, reason, item, field, ...changed }, this)
  }
}

/**
 * The reason why a migration run stopped: a file or statement `failed`; an incomplete migration does not
 * match the files (`dirty`); an applied file was `edited`; another tool migrates the schema (`foreign`); the
 * lock was not obtained or was lost (`locked`); there is a transaction `pooler`; the `connection` failed or
 * was lost; the user lacks a permission (`denied`); the database is read-only (`readOnly`); the caller
 * cancelled (`cancelled`).
 */
export type MigrationStop = ServerStop | 'dirty' | 'edited' | 'foreign' | 'locked' | 'pooler'
/** @inline */
type ServerStop = 'failed' | 'connection' | 'denied' | 'readOnly' | 'cancelled'

/**
 * A stopped migration run. The message contains the migration, the reason and advice, but never a connection
 * string.
 */
export class MigrationError extends AshlarError {
  /**
   * @param sqlState - PostgreSQL's SQLSTATE or MySQL's error number.
   * @param problem - the content of the message as a `kind` and its values.
   */
  constructor(
    readonly stop: MigrationStop,
    message: string,
    readonly version: string | undefined,
    readonly sqlState: string | undefined,
    readonly problem: { readonly kind: string },
  ) {
    const code = stop === 'cancelled' ? 'CANCELLED' : 'FAILED_PRECONDITION'
    super(code, `migrations: ${message}`, { wireMessage: 'the schema is not ready' })
  }
}
