import type { DescField } from '@bufbuild/protobuf'
import { type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../fields/field.js'
import { kindOfScalar } from '../kinds/declared-kind.js'
import type { KeyRules } from '../kinds/key-rules.js'
import type { Range } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import { keyPartOf } from './key-part.js'

/** Converts a key part between the message's field and the property. */
export interface WirePart {
  /** Undefined if the two are the same. */
  readonly toWire: ((value: unknown) => unknown) | undefined
  readonly fromWire: ((value: unknown) => unknown) | undefined
}

/**
 * Returns the conversion of a key part. Undefined for a field that is not part of a key and is converted like
 * any other field.
 */
export function wirePartOf(field: Field, inMessage: DescField): WirePart | undefined {
  const wire = wireType(inMessage)
  if (kindOf(field).key === undefined || wire === undefined) return undefined
  const own = typeof kindOf(field).zero(field)
  const isUnset = field.role === 'key' && !inMessage.proto.proto3Optional ? UNSET[wire] : undefined
  const isSame = wire === own
  return {
    toWire: isSame ? undefined : TO_WIRE[wire],
    fromWire:
      isSame && isUnset === undefined
        ? undefined
        : (value) => {
            if (value === isUnset) return undefined
            if (isSame) return value
            const part = keyPartOf(field)
            // An invalid key is left unchanged, so that the check of the value can report it.
            return (
              part.valueOf(part.textOf(value)) ??
              (wire !== 'string' && own === 'number' ? Number(value) : String(value))
            )
          },
  }
}

/**
 * Returns the key rules of a message's field, or of each element of its list; undefined if it cannot be a
 * key.
 */
export const keyRulesOf = ({ scalar }: Pick<DescField, 'scalar'>): KeyRules | undefined =>
  scalar === undefined ? undefined : kindOf({ kind: kindOfScalar(scalar) }).key

export const canBeKey = (field: DescField): boolean =>
  field.oneof === undefined && keyRulesOf(field) !== undefined

/** Returns a problem if a message field cannot represent all values of the column. */
export function* narrowWire(field: Field, inMessage: DescField | undefined): Generator<Problem> {
  if (inMessage?.fieldKind !== 'scalar') return
  const [held, stored] = [rangeOf(kindOf({ kind: kindOfScalar(inMessage.scalar) })), rangeOf(kindOf(field))]
  if (held === undefined || stored === undefined) return
  const { property, range = stored } = field
  const [least, most] = range
  if (held[0] <= least && held[1] >= most) return
  yield propertyProblem(
    'column',
    property,
    `${property} stores integers from ${least} to ${most}, but the message field's type ${inMessage.name} has a smaller range`,
    'declare the field as a string or as an integer type with that range',
  )
}

const rangeOf = ({ increments, key }: ReturnType<typeof kindOf>): Range | undefined =>
  key === undefined || typeof increments === 'string' ? undefined : increments.range

type WireType = 'string' | 'number' | 'bigint'

const TO_WIRE: Readonly<Record<WireType, (value: unknown) => unknown>> = {
  string: String,
  number: Number,
  bigint: (value) => BigInt(value as string | number | bigint),
}

/** The values that mean "no key" in a field without presence. */
const UNSET: Readonly<Record<WireType, unknown>> = { string: undefined, number: 0, bigint: 0n }

function wireType({ fieldKind, scalar }: DescField): WireType | undefined {
  if (fieldKind !== 'scalar') return undefined
  const kind = kindOf({ kind: kindOfScalar(scalar as never) })
  return kind.key === undefined ? undefined : (typeof kind.zero({}) as WireType)
}
