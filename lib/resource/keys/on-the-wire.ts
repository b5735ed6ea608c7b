import type { DescField } from '@bufbuild/protobuf'
import type { Field } from '../fields/field.js'
import { kindOfScalar } from '../kinds/declared-kind.js'
import type { Range } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import { keyPartOf } from './key-part.js'

/** What a field of a message holds of a part of a key, and what the property does. */
export interface WirePart {
  /** Undefined where the two are the same. */
  readonly toWire: ((value: unknown) => unknown) | undefined
  readonly fromWire: ((value: unknown) => unknown) | undefined
}

type Part = Pick<Field, 'kind' | 'role' | 'hasDigits' | 'takesText' | 'range'>

/** Undefined for a field that is no part of a key, and converted as any other. */
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
            // What is no key is left as it is, so that whoever checks the value can say what is wrong.
            return (
              part.valueOf(part.textOf(value)) ??
              (wire !== 'string' && own === 'number' ? Number(value) : String(value))
            )
          },
  }
}

/** Why a field of a message cannot hold all values of the column; undefined where it can. */
export function narrowWire(field: Part, inMessage: DescField | undefined): string | undefined {
  if (inMessage?.fieldKind !== 'scalar') return undefined
  const [held, stored] = [rangeOf(kindOf({ kind: kindOfScalar(inMessage.scalar) })), rangeOf(kindOf(field))]
  if (held === undefined || stored === undefined) return undefined
  const [least, most] = field.range ?? stored
  return held[0] <= least && held[1] >= most ? undefined : `from ${least} to ${most}`
}

const rangeOf = ({ increments, key }: ReturnType<typeof kindOf>): Range | undefined =>
  key === undefined || typeof increments === 'string' ? undefined : increments.range

type WireType = 'string' | 'number' | 'bigint'

const TO_WIRE: Readonly<Record<WireType, (value: unknown) => unknown>> = {
  string: String,
  number: Number,
  bigint: (value) => BigInt(value as string | number | bigint),
}

/** Where a field without presence holds it, nobody has set a key. */
const UNSET: Readonly<Record<WireType, unknown>> = { string: undefined, number: 0, bigint: 0n }

function wireType({ fieldKind, scalar }: DescField): WireType | undefined {
  if (fieldKind !== 'scalar') return undefined
  const kind = kindOf({ kind: kindOfScalar(scalar as never) })
  return kind.key === undefined ? undefined : (typeof kind.zero({}) as WireType)
}
