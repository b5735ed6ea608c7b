import type { Columns } from '../../resource/fields/field.js'
import type { KindName } from '../../resource/kinds/kind.js'
import { bool } from '../../resource/kinds/bool.js'
import { double } from '../../resource/kinds/fractions.js'
import { string } from '../../resource/kinds/text.js'
import { FilterTokens, quoted } from './filter-tokens.js'
import { elementLiteral, typedLiteral } from './typed-literal.js'
import { rulesOf } from './plan-rules.js'
import { isStorable } from './reachable.js'
import {
  type CompareOp,
  type FilterNode,
  type PlanColumn,
  and,
  isNotNull,
  isNull,
  not,
} from './query-plan.js'
import { type Member, readMember } from './filter-member.js'
import type { FieldsBehind, NamedFields, FieldPath } from './related-fields.js'

/** The maximum nesting of parentheses. */
export const MAX_FILTER_NESTING = 64
/**
 * The maximum number of comparisons in a filter, including `has()`. The database evaluates each for every
 * row.
 */
export const MAX_FILTER_COMPARISONS = 128
/** The maximum number of comparisons in a filter of server code. */
const MAX_OWN_COMPARISONS = 1000

/**
 * Parses an AIP-160 filter. Returns undefined if it is blank. OR binds tighter than AND, and adjacent terms
 * are combined with AND.
 *
 * @param closed - existing fields that must not be named, with reasons.
 * @param behind - the fields that can be named through relations.
 * @throws InvalidArgument with the position if a field is not in `columns`, a column cannot hold a value,
 *   the syntax is invalid, or the filter exceeds
 * 4096 characters, 64 levels or 128 comparisons.
 */
export const parseFilterPlan = (
  expression: string,
  columns: Columns,
  closed?: ReadonlyMap<string, string>,
  behind?: FieldsBehind,
): FilterNode | undefined =>
  expression === '' ? undefined : new FilterParser(expression, { columns, closed, behind }).filter()

/**
 * Parses a filter of server code. Returns undefined if it is blank. Its length is unlimited, and it may
 * contain strings that no column can hold.
 *
 * @throws InvalidArgument with the position.
 */
export const parseOwnFilter = (expression: string, columns: Columns): FilterNode | undefined =>
  new FilterParser(expression, { columns }, false).filter()

/** Parses a filter, with one method per rule of the grammar. */
class FilterParser {
  readonly #tokens: FilterTokens
  #depth = 0
  #comparisons = 0

  constructor(
    expression: string,
    private readonly fields: NamedFields,
    private readonly bounded = true,
  ) {
    this.#tokens = new FilterTokens(expression, bounded)
  }

  /** Parses `filter: [expression]`. */
  filter(): FilterNode | undefined {
    if (this.#tokens.is('end')) return undefined
    const node = this.#expression()
    const { kind, text } = this.#tokens
    if (kind !== 'end') this.#tokens.fail(`unexpected ${quoted(text)}`)
    return node
  }

  /** Parses `expression: sequence {AND sequence}`. */
  #expression(): FilterNode {
    const nodes: FilterNode[] = []
    this.#sequence(nodes)
    while (this.#tokens.isKeyword('AND')) {
      this.#tokens.next()
      this.#sequence(nodes)
    }
    return and(...nodes)
  }

  /**
   * Parses `sequence: factor {factor}`. Its factors are added to the expression's, because both are combined
   * with AND.
   */
  #sequence(nodes: FilterNode[]): void {
    do nodes.push(this.#factor())
    while (startsFactor(this.#tokens))
  }

  /** Parses `factor: term {OR term}`. */
  #factor(): FilterNode {
    const first = this.#term()
    if (!this.#tokens.isKeyword('OR')) return first
    const nodes = [first]
    do {
      this.#tokens.next()
      nodes.push(this.#term())
    } while (this.#tokens.isKeyword('OR'))
    return { kind: 'or', nodes }
  }

  /** Parses `term: {NOT | -} simple`. */
  #term(): FilterNode {
    let negated = false
    while (this.#tokens.is('-') || this.#tokens.isKeyword('NOT')) {
      negated = !negated
      this.#tokens.next()
    }
    const node = this.#simple()
    return negated ? not(node) : node
  }

  /** Parses `simple: restriction | '(' expression ')'`. */
  #simple(): FilterNode {
    const tokens = this.#tokens
    if (!tokens.is('(')) return this.#restriction()
    if (++this.#depth > MAX_FILTER_NESTING) tokens.fail(`nested deeper than ${MAX_FILTER_NESTING} levels`)
    tokens.next()
    const node = this.#expression()
    this.#expect(')')
    this.#depth--
    return node
  }

  /**
   * Parses `restriction: {relation '.'} member comparator value | relation comparator value | 'has' '('
   * member ')'`.
   */
  #restriction(): FilterNode {
    const tokens = this.#tokens
    if (!tokens.is('word') || tokens.isKeyword('AND') || tokens.isKeyword('OR')) {
      return tokens.fail(`expected a field, found ${tokens.found}`)
    }
    const most = this.bounded ? MAX_FILTER_COMPARISONS : MAX_OWN_COMPARISONS
    if (++this.#comparisons > most) tokens.fail(`more than ${most} comparisons`)
    const { text, start } = tokens
    tokens.next()
    if (text === 'has' && tokens.is('(')) return this.#has()

    const { place, member } = readMember(tokens, this.fields, text, start)
    const name = member?.name ?? place.path.join('.')
    if (!tokens.is('op')) tokens.fail(`expected a comparison after ${quoted(name)}, found ${tokens.found}`)
    const op = tokens.text
    const opStart = tokens.start
    tokens.next()
    const node =
      member === undefined ? this.#resource(place, op, opStart) : this.#restricted(member, op, opStart)
    tokens.next()
    return someOf(place, node)
  }

  #restricted(member: Member, op: string, opStart: number): FilterNode {
    if (op === '!=' && member.place.some.length > 0)
      this.#tokens.fail(
        `${quoted(member.name)} has several values, and != compares one of them: write NOT ${member.name}:… if none may be equal`,
        opStart,
      )
    return op === ':' ? this.#colon(member, opStart) : this.#comparison(member, op as CompareOp, opStart)
  }

  /** Parses the test whether a related resource exists. */
  #resource({ path, of, fields }: FieldPath, op: string, opStart: number): FilterNode {
    const tokens = this.#tokens
    const name = path.join('.')
    const field = Object.keys(fields.columns)[0] ?? 'field'
    if (of === undefined) {
      if (op === ':' && tokens.is('*')) return and()
      return tokens.fail(
        `${quoted(name)} can have several: test whether one exists, as in ${name}:*, or test a field, as in ${name}.${field}:…`,
        opStart,
      )
    }
    const isThere = isNotNull({ ...of.target.key, nullable: true, of })
    if (op === ':' && tokens.is('*')) return isThere
    if (tokens.is('word') && tokens.text === 'null' && (op === '=' || op === '!='))
      return op === '=' ? not(isThere) : isThere
    return tokens.fail(
      `${quoted(name)} is another resource: test whether it exists, as in ${name}:*, or test its fields, as in ${name}.${field}`,
      opStart,
    )
  }

  /** Parses `has(tags.key)`. */
  #has(): FilterNode {
    const tokens = this.#tokens
    tokens.next()
    const { kind, text, start } = tokens
    if (kind !== 'word') tokens.fail(`expected tags.key, found ${tokens.found}`)
    tokens.next()
    const { place, member } = readMember(tokens, this.fields, text, start)
    if (member?.key === undefined)
      return tokens.fail('has() takes tags.key; other fields compare with null', start)
    this.#expect(')')
    return someOf(place, { kind: 'has', column: member.column, key: member.key })
  }

  /**
   * Parses the operator `:` (AIP-160). It tests for a substring of a string, for a key of tags, and for an
   * equal element of a list.
   */
  #colon(member: Member, opStart: number): FilterNode {
    const { place, name, column, key } = member
    const tokens = this.#tokens
    const { kind, text } = tokens
    if (kind === '*') return this.#presence(member)
    if (column.elements !== undefined)
      return { kind: 'element', column, value: elementLiteral(tokens, name, column.elements) }
    const { hasKeys, isText } = rulesOf(column)
    if (hasKeys && key === undefined) {
      const isKey =
        (kind === 'string' && isStorable(text)) ||
        ((kind === 'word' || kind === 'number') && !isReserved(tokens))
      return isKey ? { kind: 'has', column, key: text } : tokens.fail(`expected a key, found ${tokens.found}`)
    }
    if (place.some.length > 0) return this.#comparison(member, '=', opStart)
    if (column.json?.shape !== undefined && kind === 'string')
      return { kind: 'contains', column: leafAs(string.name, member, tokens), key, value: text }
    if (!isText && !hasKeys) {
      tokens.fail(`":" is for strings, lists and tags, not for ${quoted(name)}`, opStart)
    }
    if (kind !== 'string') tokens.fail(`${quoted(name)} takes a string in double quotes, not ${tokens.found}`)
    return { kind: 'contains', column, key, value: text }
  }

  /** Parses `x:*`, which tests whether the field is set (AIP-160). */
  #presence({ name, column, key }: Omit<Member, 'place'>): FilterNode {
    if (key !== undefined) return { kind: 'has', column, key }
    const written = quoted(name)
    const { hasKeys } = rulesOf(column)
    if (column.elements !== undefined || hasKeys)
      return this.#tokens.fail(
        hasKeys
          ? `${written} is always set: test a key, as in ${name}.key:*`
          : `${written} is a list: test whether it contains a value, as in ${name}:…`,
      )
    // A field without presence has its zero value if it was not set.
    if (!column.nullable || column.isSet || column.inside?.zero !== undefined)
      this.#tokens.fail(`${written} is always set: compare it with a value`)
    return isNotNull(column)
  }

  #comparison(member: Member, op: CompareOp, opStart: number): FilterNode {
    const tokens = this.#tokens
    const { name, key } = member
    let { column } = member
    if (column.elements !== undefined)
      tokens.fail(`${quoted(name)} is a list: test whether it contains a value, as in ${name}:…`, opStart)
    if (isNullWord(tokens, column)) {
      if (op !== '=' && op !== '!=')
        tokens.fail(`null can only be compared with = and !=, not with ${op}`, opStart)
      if (key === undefined) return op === '=' ? isNull(column) : isNotNull(column)
      return op === '=' ? not({ kind: 'has', column, key }) : { kind: 'has', column, key }
    }
    if (column.json?.shape !== undefined) column = leafAs(kindOfLiteral(tokens, name), member, tokens)
    const { hasKeys, hasOrder } = rulesOf(column)
    if (hasKeys && key === undefined) {
      tokens.fail(`${quoted(name)} is compared by key, as in ${name}.key ${op} "value"`, opStart)
    }
    if (column.members !== undefined)
      tokens.fail(
        `${quoted(name)} is compared by its fields, as in ${name}.${column.members.names[0] ?? 'field'}, or with null`,
        opStart,
      )
    if (!hasOrder && op !== '=' && op !== '!=') {
      tokens.fail(`${quoted(name)} can only be compared with = and !=, not with ${op}`, opStart)
    }
    const value = typedLiteral(tokens, name, column)
    return { kind: 'compare', column, key, op, value, ...(value instanceof Date && { isRead: true }) }
  }

  #expect(kind: ')'): void {
    if (!this.#tokens.is(kind)) this.#tokens.fail(`expected ${quoted(kind)}, found ${this.#tokens.found}`)
    this.#tokens.next()
  }
}

/** Returns the kind that a literal compares with. JSON leaves of other types do not match. */
const kindOfLiteral = (tokens: FilterTokens, name: string): KindName => {
  if (tokens.is('string')) return string.name
  if (tokens.is('number')) return double.name
  const isBool = tokens.is('word') && (tokens.text === 'true' || tokens.text === 'false')
  return isBool
    ? bool.name
    : tokens.fail(
        `${quoted(name)} takes a string in double quotes, a number, true, false or null, not ${tokens.found}`,
      )
}

/** Returns a leaf of free-form JSON as a column of a kind. */
const leafAs = (kind: KindName, { name, column }: Member, tokens: FilterTokens): PlanColumn => {
  if (column.inside?.path?.length === 0 && column.json?.shape !== 'any')
    tokens.fail(
      `${quoted(name)} is compared by its keys, as in ${name}.key = "value", or with null`,
      undefined,
    )
  const { json: _, ...rest } = column
  return { ...rest, kind }
}

/** Returns a condition that one of the related rows on a path must meet. */
const someOf = ({ some }: FieldPath, node: FilterNode): FilterNode =>
  some.reduceRight((asked, rows): FilterNode => ({ kind: 'some', rows, node: asked }), node)

const startsFactor = (tokens: FilterTokens): boolean =>
  !tokens.is('end') && !tokens.is(')') && !tokens.isKeyword('AND')

const isReserved = (tokens: FilterTokens): boolean =>
  tokens.isKeyword('AND') || tokens.isKeyword('OR') || tokens.isKeyword('NOT')

const isNullWord = (tokens: FilterTokens, column: PlanColumn): boolean =>
  tokens.is('word') && tokens.text === 'null' && column.enumNames?.numberOf.has('null') !== true
