import { type DescField, ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { type EnumSource, enumNamesOf } from '../enums/enum-names.js'
import { elementKindOf, kindInList } from '../kinds/declared-kind.js'
import { decimalFacet, decimalOf, decimalText } from '../kinds/fractions.js'
import { narrowRange } from '../kinds/integers.js'
import type { Element, ElementForm, InsideProblem, KindName, ListForm } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import { isSaid } from '../kinds/text.js'

/** The declaration of a list column. */
interface DeclaredList {
  readonly isExisting?: boolean
  readonly isOfTypeorm?: boolean
  readonly enumLabels?: EnumSource['stated'] | undefined
  readonly enumType?: EnumSource['type'] | undefined
}

/**
 * Returns true for a column in which TypeORM stores list elements as text. Booleans are excluded, because
 * they are not strings in JSON.
 */
export const isTextList = (type: unknown, inMessage: DescField | undefined): boolean =>
  type === 'simple-array' &&
  (inMessage === undefined ||
    (inMessage.fieldKind === 'list' &&
      inMessage.listKind !== 'message' &&
      inMessage.scalar !== ScalarType.BOOL))

/** Returns the form of a list that its column does not store as JSON; undefined if it does. */
export function listFormOf(
  inMessage: DescField | undefined,
  options: ColumnOptions,
  declared: DeclaredList = {},
): ListForm | undefined {
  if (options.array === true) {
    const kind = elementKindOf(inMessage, options.type)
    if (kind === undefined) return undefined
    const element = elementOf(kind, inMessage, options, declared)
    return { as: 'array', element, form: formOf(element), problem: (list) => problemIn(list, element) }
  }
  if (declared.isOfTypeorm !== true || !isTextList(options.type, inMessage)) return undefined
  const kind = kindInList(inMessage) ?? 'string'
  const element = { kind, ...labelsOf(inMessage, options, declared) }
  const form = element.enumNames?.labels && formOf(element)
  // Other elements are checked during conversion.
  const problem = (list: readonly unknown[]) => form && problemIn(list, element)
  return { as: 'commas', element, form, problem }
}

const labelsOf = (
  inMessage: DescField | undefined,
  { enum: declared }: ColumnOptions,
  { enumLabels: stated, enumType: type }: DeclaredList,
): Pick<Element, 'enumNames'> =>
  inMessage?.enum === undefined
    ? {}
    : { enumNames: enumNamesOf(inMessage.enum, { declared, stated, type, designType: undefined }) }

function elementOf(
  kind: KindName,
  inMessage: DescField | undefined,
  options: ColumnOptions,
  declaredList: DeclaredList,
): Element {
  const { declared } = kindOf({ kind })
  const isBounded = declaredList.isExisting !== true || isSaid(options.length)
  const isNumber = inMessage !== undefined && inMessage.scalar !== ScalarType.STRING
  return {
    kind,
    ...(isBounded && { maxLength: declared.maxLength?.(options) }),
    ...labelsOf(inMessage, options, declaredList),
    ...(declared.takesPrecision === true && {
      decimal: decimalFacet(isNumber ? 'number' : 'string', options),
    }),
    // TypeORM's driver returns strings of digits, and the declaration states no other type.
    ...(declared.holds === 'bigint' && { hasDigits: true as const, inProperty: 'string' as const }),
    ...(declaredList.isExisting === true && narrowRange(declared, options.type)),
  }
}

function formOf(element: Element): ElementForm | undefined {
  const { labels } = element.enumNames ?? {}
  if (labels !== undefined)
    return {
      toWire: (held) => labels.numberOf.get(held as string) ?? held,
      fromWire: (number) => labels.fromNumber(number as number),
      toJson: (held) => labels.labelIn(held),
      fromJson: (stored) => labels.fromLabel(String(stored as string)),
    }
  if (element.decimal !== undefined)
    return {
      toWire: (held) => held,
      fromWire: (held) => held,
      toJson: (held) => decimalText(held, element),
      fromJson: (stored) => decimalOf(String(stored as string), element),
    }
  return element.hasDigits === true ? digitsOf(element) : undefined
}

const digitsOf = (element: Element): ElementForm => ({
  toWire: (held) => BigInt(held as string),
  fromWire: String,
  toJson: String,
  fromJson: (stored) =>
    kindOf(element).problem(String(stored), element) === undefined ? String(stored) : undefined,
})

function problemIn(list: readonly unknown[], element: Element): InsideProblem | undefined {
  const { problem } = kindOf(element)
  for (const [at, one] of list.entries()) {
    const found = problem(one, element)
    if (found !== undefined) return { at: `[${at}]`, text: typeof found === 'string' ? found : found.text }
  }
  return undefined
}
