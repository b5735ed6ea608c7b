import { InvalidArgument } from '../../errors.js'
import type { Field } from '../fields/field.js'
import type { Amount, Range } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'

/** Stands in a patch for a number that is added to what is stored: what `increment` returns. */
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
   * The amount that it adds; undefined for any other value. A value from a client is never an increment,
   * whatever its form. For a repository of your own, which receives increments in patches.
   */
  static amountOf(value: unknown): Amount | undefined {
    return typeof value === 'object' && value !== null && #by in value ? value.#by : undefined
  }
}

/**
 * Adds to a number that is stored, in the statement that writes it, so that calls at the same time lose
 * nothing. It stands for the value in the patch of `update`, `batchUpdate` and `modify`; an unset number
 * counts as 0.
 * @param by - negative to subtract. An integer for an integer field, for a Duration in nanoseconds.
 * @throws InvalidArgument from the write, with the field, when the sum would leave the range of the field's
 * type.
 * @throws TypeError for NaN and infinities, and from the write for a fraction on an integer field and a field
 * that is not a number.
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
 * Any number can be assigned to an enum, which cannot be added to: as text an enum is a few numbers and not
 * each of them.
 */
type IncrementOf<V> = `${number}` extends `${Extract<V, number>}`
  ? Increment
  : `${bigint}` extends `${Extract<V, bigint>}`
    ? Increment
    : never

/** Which stored values an increment leaves in range. */
export interface IncrementBound {
  readonly op: '<=' | '>='
  readonly value: Amount
  /** True if an unset value, which counts as 0, is one of them. */
  readonly takesUnset: boolean
}

/** An increment of one field, checked, in the type that the field has. */
export class FieldIncrement {
  /** The operator of the operand. In unsigned fields, a negative operand has no type. */
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
   * @throws TypeError for an increment that the field cannot take.
   * @throws InvalidArgument for an amount outside of the range of its type.
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
   * The bound with which a stored value is compared so that the sum stays in range. @param range - the
   * database's range.
   */
  bound(range = this.range): IncrementBound {
    const { by } = this
    const [lowest, highest] = range
    const last = minus(by < 0 ? lowest : highest, by)
    // A difference of doubles is rounded, which may make a sum infinite.
    const isRounded = typeof last === 'number' && !Number.isFinite(plus(last, by))
    return {
      op: by < 0 ? '>=' : '<=',
      value: isRounded ? last * BELOW_ONE : last,
      takesUnset: by >= lowest && by <= highest,
    }
  }

  /** The sum. @throws InvalidArgument when it is out of range. */
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

/** The increments of a patch, by property. */
export function incrementsIn(patch: Readonly<Record<string, unknown>>): FieldIncrement[] {
  const increments: FieldIncrement[] = []
  for (const value of Object.values(patch)) if (value instanceof FieldIncrement) increments.push(value)
  return increments
}

/** @throws TypeError for an increment, where nothing is stored yet. */
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

/** A sum as the property holds it. */
function asHeld({ inProperty }: Field, sum: Amount): Amount | string {
  if (inProperty === undefined) return sum
  return inProperty === 'string' ? String(sum) : Number(sum)
}

const BELOW_ONE = 1 - Number.EPSILON

const limits = ([lowest, highest]: Range): string => `from ${lowest} to ${highest}`

const plus = (a: Amount, b: Amount): Amount => (typeof a === 'bigint' ? a + (b as bigint) : a + (b as number))

const minus = (a: Amount, b: Amount): Amount =>
  typeof a === 'bigint' ? a - (b as bigint) : a - (b as number)
