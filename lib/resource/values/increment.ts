import { InvalidArgument } from '../../errors.js'
import type { Field } from '../fields/field.js'
import type { Amount, Range } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'

/** Represents an addition to the stored number in a patch. Returned by `increment`. */
export class Increment {
  readonly #by: Amount

  constructor(by: Amount) {
    if (typeof by === 'number' && !Number.isFinite(by))
      throw new TypeError(`increment(${by}): pass a finite number or a bigint`)
    if (typeof by !== 'number' && typeof by !== 'bigint')
      throw new TypeError(`increment() takes a number or a bigint, not a ${typeof by}`)
    this.#by = by
  }

  /**
   * Returns the amount of an increment; undefined for any other value. A client's value is never an
   * increment, whatever its structure. Use it in a custom repository, which receives increments in patches.
   */
  static amountOf(value: unknown): Amount | undefined {
    return typeof value === 'object' && value !== null && #by in value ? value.#by : undefined
  }
}

/**
 * Returns an increment, which replaces a value in the patch of `update`, `batchUpdate` and `modify`. The
 * addition happens in the statement that writes, so that concurrent calls lose nothing. An unset number
 * counts as 0.
 * @param by - negative to subtract. An integer for an integer field; nanoseconds for a Duration.
 * @throws InvalidArgument from the write, with the field, if the sum is outside the range of the field's
 *   type.
 * @throws TypeError for NaN and infinities, and from the write for a fraction on an integer field or a field
 *   that is not a number.
 * @example
 * ```ts
 * import { increment } from 'ashlar'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const grow = (widgets: WidgetRepository, id: string) =>
 *   widgets.update(id, { size: increment(1) }, ['size'])
 * ```
 */
export const increment = (by: number | bigint): Increment => new Increment(by)

/** The values of an update: plain values, and increments of numbers. */
export type Patch<T> = { [K in keyof T]?: T[K] | IncrementOf<T[K]> }

/**
 * The type of an increment for a value. Numbers are assignable to an enum, but an enum cannot be incremented.
 * As a string type, an enum has only some numbers.
 */
type IncrementOf<V> = `${number}` extends `${Extract<V, number>}`
  ? Increment
  : `${bigint}` extends `${Extract<V, bigint>}`
    ? Increment
    : never

/** The condition under which a stored value stays in range after an increment. */
export interface IncrementBound {
  readonly op: '<=' | '>='
  readonly value: Amount
  /** True if an unset value, which counts as 0, fulfils the condition. */
  readonly takesUnset: boolean
}

/** A checked increment of one field, in the field's type. */
export class FieldIncrement {
  /** The operator of the operand. A negative operand would have no type in unsigned fields. */
  readonly operator: '+' | '-'
  readonly operand: Amount

  private constructor(
    readonly field: Field,
    private readonly by: Amount,
    private readonly range: Range,
  ) {
    this.operator = by < 0 && range[0] >= 0 ? '-' : '+'
    this.operand = this.operator === '-' ? -by : by
  }

  /**
   * Checks an increment.
   * @throws TypeError if the field cannot be incremented.
   * @throws InvalidArgument if the amount is outside the range of the field's type.
   */
  static of(field: Field, given: Amount): FieldIncrement {
    if (field.transformed !== undefined)
      throw new TypeError(
        `${field.proto}: a transformer converts its values, and cannot convert an increment`,
      )
    const { increments } = kindOf(field)
    if (typeof increments === 'string') throw new TypeError(`${field.proto}: ${increments}`)
    const by = increments.amount(given)
    if (typeof by === 'string') throw new TypeError(`${field.proto}: ${by}`)
    const range = field.range ?? increments.range
    const [lowest, highest] = range
    if (by > highest || by < (lowest < 0 ? lowest : -highest))
      throw new InvalidArgument(field.proto, `cannot be incremented by ${by}: ${limits(range)}`)
    return new FieldIncrement(field, by, range)
  }

  /**
   * Returns the condition under which the sum stays in range.
   * @param range - the database's range.
   */
  bound(range = this.range): IncrementBound {
    const { by } = this
    const [lowest, highest] = range
    const last = minus(by < 0 ? lowest : highest, by)
    // The difference of doubles is rounded, which may make the sum infinite.
    const isRounded = typeof last === 'number' && !Number.isFinite(plus(last, by))
    return {
      op: by < 0 ? '>=' : '<=',
      value: isRounded ? last * BELOW_ONE : last,
      takesUnset: by >= lowest && by <= highest,
    }
  }

  /**
   * Returns the sum.
   * @throws InvalidArgument if it is out of range.
   */
  addedTo(stored: unknown, range = this.range): Amount | string {
    const held = stored ?? 0
    const sum = plus(
      (typeof this.by === 'bigint' ? BigInt(held as Amount | string) : held) as Amount,
      this.by,
    )
    if (sum >= range[0] && sum <= range[1]) return asHeld(this.field, sum)
    throw new InvalidArgument(
      this.field.proto,
      `cannot be incremented by ${this.by}: it would not be ${limits(range)}`,
    )
  }
}

/** Returns the increments of a patch. */
export function incrementsIn(patch: Readonly<Record<string, unknown>>): FieldIncrement[] {
  const increments: FieldIncrement[] = []
  for (const value of Object.values(patch)) if (value instanceof FieldIncrement) increments.push(value)
  return increments
}

/** @throws TypeError for an increment if there is no stored value yet. */
export function refuseIncrement(
  model: { readonly entity: { readonly name: string } },
  field: Field,
  value: unknown,
) {
  if (Increment.amountOf(value) !== undefined)
    throw new TypeError(
      `${model.entity.name}.create: increment() for ${field.property}, which has no value yet: pass the value itself`,
    )
}

/** Converts a sum to the type of the property. */
function asHeld({ inProperty }: Field, sum: Amount): Amount | string {
  if (inProperty === undefined) return sum
  return inProperty === 'string' ? String(sum) : Number(sum)
}

const BELOW_ONE = 1 - Number.EPSILON

const limits = ([lowest, highest]: Range): string => `from ${lowest} to ${highest}`

const plus = (a: Amount, b: Amount): Amount => (typeof a === 'bigint' ? a + (b as bigint) : a + (b as number))

const minus = (a: Amount, b: Amount): Amount =>
  typeof a === 'bigint' ? a - (b as bigint) : a - (b as number)
