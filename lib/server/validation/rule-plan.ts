import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import type * as Rules from 'ashlar-annotations/buf/validate/validate_pb.js'
import { reachable, ruledPart } from './ruled-part.js'
import { type ExpressionCost, expressionCost } from './expression-cost.js'

/** The maximum size of a field, and the message for a larger value. */
export interface Most {
  readonly count: number
  readonly of: 'entries' | 'characters' | 'bytes'
  readonly ruleId: string
  readonly text: string
}

/** A field's rules by their cost. */
export interface FieldPlan {
  readonly field: DescField
  readonly most: readonly Most[]
  /** The cost of each rule that reads the whole value. */
  readonly whole: readonly ExpressionCost[]
  /** The cost of each rule that reads an element or a map value. */
  readonly each: readonly ExpressionCost[]
  readonly keys: readonly ExpressionCost[]
  readonly inner: MessagePlan | undefined
}

export interface MessagePlan {
  readonly whole: readonly ExpressionCost[]
  /** The fields that have rules. */
  readonly fields: readonly FieldPlan[]
}

const ONCE: ExpressionCost = { degree: 0, splits: false }
const THROUGH: ExpressionCost = { degree: 1, splits: false }
const PAIRS: ExpressionCost = { degree: 2, splits: false }

/** Rules about sizes, which read no characters. */
const SIZES: ReadonlySet<string> = new Set([
  ...['len', 'min_len', 'max_len', 'len_bytes', 'min_bytes', 'max_bytes'],
  ...['min_items', 'max_items', 'min_pairs', 'max_pairs'],
])
/**
 * Groups that are not rules of the value itself: rules of elements, which are read separately, and examples.
 */
const NONE: ReadonlySet<string> = new Set(['items', 'keys', 'values', 'example'])

/** The rules that limit the size of a value, with protovalidate's own messages. */
const MAX: Readonly<Record<string, Pick<Most, 'of'> & { readonly says: (count: bigint) => string }>> = {
  'repeated.max_items': { of: 'entries', says: (n) => `must contain no more than ${n} item(s)` },
  'map.max_pairs': { of: 'entries', says: (n) => `map must be at most ${n} entries` },
  'string.max_len': { of: 'characters', says: (n) => `must be at most ${n} characters` },
  'string.len': { of: 'characters', says: (n) => `must be ${n} characters` },
  'string.max_bytes': { of: 'bytes', says: (n) => `must be at most ${n} bytes` },
  'string.len_bytes': { of: 'bytes', says: (n) => `must be ${n} bytes` },
  'bytes.max_len': { of: 'bytes', says: (n) => `must be at most ${n} bytes` },
  'bytes.len': { of: 'bytes', says: (n) => `must be ${n} bytes` },
}

/**
 * Returns a function that computes the cost of a message type's `buf.validate` rules.
 * @param predefined - rules that the services' files add to `buf.validate`.
 */
export const rulePlans = (
  rules: typeof Rules,
  predefined: readonly string[],
): ((desc: DescMessage) => MessagePlan) => {
  const known = new Map<DescMessage, MessagePlan>()
  const added = predefined.map(expressionCost)

  const planOf = (desc: DescMessage): MessagePlan => {
    const found = known.get(desc)
    if (found !== undefined) return found
    const fields: FieldPlan[] = []
    const own = hasOption(desc, rules.message) ? getOption(desc, rules.message) : undefined
    const plan: MessagePlan = { whole: own === undefined ? [] : expressionsIn(own), fields }
    // The plan is registered before its fields are read, because messages can be recursive.
    known.set(desc, plan)
    for (const field of desc.fields) {
      const one = fieldPlan(field)
      const { most, whole, each, keys, inner } = one
      if (most.length + whole.length + each.length + keys.length > 0 || inner !== undefined) fields.push(one)
    }
    return plan
  }

  const fieldPlan = (field: DescField): FieldPlan => {
    const own = getOption(field, rules.field)
    const inner = field.message && holdsRules(field.message) ? planOf(field.message) : undefined
    if (own.ignore === rules.Ignore.ALWAYS) return { field, most: [], whole: [], each: [], keys: [], inner }
    const { type } = own
    const of = (nested: Rules.FieldRules | undefined) => (nested === undefined ? [] : costsOf(nested))
    return {
      field,
      most: setIn(own).flatMap(([name, value]) => {
        const most = MAX[name]
        return most === undefined
          ? []
          : [{ count: Number(value), of: most.of, ruleId: name, text: most.says(value as bigint) }]
      }),
      whole: costsOf(own, field.fieldKind === 'list' && field.listKind === 'message'),
      each: of(
        type.case === 'repeated' ? type.value.items : type.case === 'map' ? type.value.values : undefined,
      ),
      keys: of(type.case === 'map' ? type.value.keys : undefined),
      inner,
    }
  }

  /** Returns the rules that are set for a type, such as `string.max_len`. */
  const setIn = ({ type }: Rules.FieldRules): [name: string, value: unknown][] => {
    if (type.case === undefined) return []
    const { message } = rules.FieldRulesSchema.field[type.case] as { readonly message: DescMessage }
    const set = reflect(message, type.value)
    return set.fields.filter((one) => set.isSet(one)).map((one) => [`${type.case}.${one.name}`, set.get(one)])
  }

  /** @param ofMessages - true if the value is a list of messages, which are compared with one another. */
  const costsOf = (own: Rules.FieldRules, ofMessages = false): ExpressionCost[] => {
    const { type } = own
    const costs = expressionsIn(own)
    const names = setIn(own).map(([name]) => name.slice(name.indexOf('.') + 1))
    const rulesOf = names.filter((name) => !NONE.has(name))
    if (own.required || rulesOf.length > 0) costs.push(ONCE)
    const isText = type.case === 'string' || type.case === 'bytes' || type.case === 'repeated'
    if (isText && rulesOf.some((name) => !SIZES.has(name))) costs.push(ofMessages ? PAIRS : THROUGH)
    return type.value?.$unknown === undefined || type.value.$unknown.length === 0
      ? costs
      : [...costs, ...added]
  }

  return planOf
}

const holdsRules = (desc: DescMessage): boolean =>
  [...reachable(desc)].some((one) => ruledPart(one) !== undefined)

const expressionsIn = ({ cel, celExpression }: Rules.FieldRules | Rules.MessageRules): ExpressionCost[] =>
  [...cel.map(({ expression }) => expression), ...celExpression].map(expressionCost)
