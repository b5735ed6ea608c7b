import { storedName } from '../enums/enum-names.js'
import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import { Misfit } from '../kinds/literal.js'
import type { CelNode } from './cel.js'

const OPERATORS = ['==', '!=', '<', '<=', '>', '>='] as const
export type CelOperator = (typeof OPERATORS)[number]

export const isOperator = (token: string | undefined): token is CelOperator =>
  OPERATORS.includes(token as CelOperator)

/** Returns true if a field is a number in an expression. */
export const isNumber = (field: Field): boolean => {
  const { family, message } = kindOf(field).declared
  return message === undefined && (family === 'integers' || family === 'fractions')
}

const BOOLS: ReadonlySet<CelNode['kind']> = new Set(['bool', 'flag', 'same', 'less', 'all', 'any', 'not'])

export const isBool = ({ kind }: CelNode): boolean => BOOLS.has(kind)

/** Returns the comparison of two values, or the reason why it is invalid. */
export function comparison(left: CelNode, operator: CelOperator, right: CelNode): CelNode | string {
  const sides = alike(left, right)
  if (typeof sides === 'string') return sides
  const [one, other] = sides
  if (operator === '==' || operator === '!=')
    return { kind: 'same', left: one, right: other, negated: operator === '!=' }
  if (one.kind !== 'number' && one.kind !== 'numeric')
    return `${operator} compares numbers: only == and != work the same everywhere for strings and conditions`
  return { kind: 'less', left: one, right: other, operator }
}

/** Converts both sides to one kind. */
function alike(left: CelNode, right: CelNode): readonly [CelNode, CelNode] | string {
  const field = fieldOf(left) ?? fieldOf(right)
  const hasEnumValue = [left, right].some(({ kind }) => kind === 'name' || kind === 'number')
  if (field?.enumNames !== undefined && hasEnumValue)
    return both(left, right, (side) => enumSide(side, field))
  if (field !== undefined && isNumber(field)) return both(left, right, (side) => numberSide(side, field))
  const [name] = [left, right].filter(({ kind }) => kind === 'name')
  if (name?.kind === 'name') return notAField(name.text)
  if (left.kind === 'number' || right.kind === 'number')
    return 'a number is compared with a value that is not a number'
  return isBool(left) === isBool(right) ? [left, right] : 'a condition is compared with a string'
}

export const notAField = (name: string): string => `${name} is not supported: fields are written msg.<field>`

const both = (
  left: CelNode,
  right: CelNode,
  as: (side: CelNode) => CelNode | string,
): readonly [CelNode, CelNode] | string => {
  const [one, other] = [as(left), as(right)]
  if (typeof one === 'string') return one
  return typeof other === 'string' ? other : [one, other]
}

const fieldOf = (node: CelNode): Field | undefined =>
  node.kind === 'numeric' || (node.kind === 'field' && node.field.enumNames !== undefined)
    ? node.field
    : undefined

/** Returns an enum value as the name in the column. An unset one is the name of 0, as in CEL. */
function enumSide(side: CelNode, { proto, enumNames }: Field): CelNode | string {
  if (side.kind === 'field') return { ...side, absent: (enumNames && storedName(enumNames, 0)) ?? '' }
  const name =
    side.kind === 'number'
      ? enumNames?.nameOf.get(Number(side.text))
      : side.kind === 'name'
        ? side.text.slice(side.text.lastIndexOf('.') + 1)
        : undefined
  if (name === undefined || enumNames?.numberOf.has(name) !== true)
    return `${shown(side)} is not a value of the enum of ${proto}`
  const label = enumNames.labels?.labelOf.get(enumNames.numberOf.get(name) as number)
  return { kind: 'text', value: enumNames.labels === undefined ? name : (label ?? '') }
}

function numberSide(side: CelNode, field: Field): CelNode | string {
  const { proto, kind } = field
  if (side.kind === 'numeric')
    return side.field.kind === kind
      ? side
      : `${side.field.proto} is ${side.field.kind}, and ${proto} is ${kind}`
  if (side.kind !== 'number') return `${proto} is ${kind}, and ${shown(side)} is not a number`
  const value = kindOf(field).literal({ kind: 'number', text: side.text }, field)
  return value instanceof Misfit ? value.text(proto, side.text) : { kind: 'number', text: String(value) }
}

const shown = (side: CelNode): string =>
  side.kind === 'number' || side.kind === 'name'
    ? side.text
    : side.kind === 'text'
      ? JSON.stringify(side.value)
      : 'the other side'
