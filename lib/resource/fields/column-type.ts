import { type Problem, propertyProblem } from '../../errors.js'
import type { ColumnOptions } from 'typeorm'
import { kindOfColumn, storableTypes } from '../kinds/declared-kind.js'
import type { KindName } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import { isSaid } from '../kinds/text.js'

/** Returns the error for a column type that cannot be stored, whatever the message's field is. */
export const unstorableType = (type: unknown): string =>
  `has the column type ${describeType(type)}, which cannot be stored: ${adviceFor(type)}, or add @Internal(), so that Ashlar does not manage it; supported types are ${storableTypes()}`

export const describeType = (type: unknown): string => (typeof type === 'function' ? type.name : String(type))

const ADVICE: Readonly<Record<string, string>> = {
  Object: 'name a type',
  Array: "write @Column('simple-json'), or a type and array: true, as in @Column('text', { array: true })",
  enum: 'make its field an enum in the message',
  'simple-enum': 'make its field an enum in the message',
}

const adviceFor = (type: unknown): string => {
  const name = describeType(type)
  return Object.hasOwn(ADVICE, name) ? (ADVICE[name] as string) : 'use another'
}

const UUID_BYTES = 16

/** Returns the column options that contradict the column's field. */
export function* typeProblems(
  property: string,
  { type, length, precision }: ColumnOptions,
  kind: KindName,
  isExisting: boolean,
): Generator<Problem> {
  const { declared } = kindOf({ kind })
  const column = typeof type === 'string' ? kindOfColumn(type, undefined) : undefined
  const family = column && kindOf({ kind: column }).declared.family
  if (family !== undefined && family !== declared.family && declared.isHeldBy?.(family, type) !== true)
    yield propertyProblem(
      'column',
      property,
      `${property} is ${kind}`,
      `the column type ${describeType(type)} holds ${family}; ${
        isExisting
          ? 'give the message field such a type, or add @Internal(), so that Ashlar does not manage it'
          : `remove it, or use a type for ${declared.family}`
      }`,
    )
  const hasLength = declared.takesLength?.(type) === true
  if (isSaid(length) && !hasLength)
    yield propertyProblem(
      'column',
      property,
      `${property}: the column option length is not supported`,
      `${declared.takesLength === undefined ? `${kind} has none` : `${describeType(type)} has none; use varchar`}`,
    )
  if (isSaid(length) && hasLength && !/^[1-9]\d*$/.test(String(length)))
    yield propertyProblem(
      'column',
      property,
      `${property}: the column option length is ${JSON.stringify(length)}`,
      'give the number of characters',
    )
  if (type === 'binary' && hasLength && Number(length) !== UUID_BYTES)
    yield propertyProblem(
      'column',
      property,
      `${property}: a binary column holds a UUID`,
      `write length: ${UUID_BYTES}`,
    )
  const [digits, why] = declared.precision ?? []
  // A table of another application may store fewer digits.
  const isKept = isExisting && typeof precision === 'number' && precision < (digits ?? 0)
  if (isSaid(precision) && precision !== digits && !isKept && declared.takesPrecision !== true)
    yield propertyProblem(
      'column',
      property,
      `${property}: the column option precision is not supported`,
      why ?? `${kind} has none`,
    )
}
