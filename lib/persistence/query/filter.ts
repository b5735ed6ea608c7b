import type { Columns } from '../../resource/fields/field.js'
import { FilterTokens, quoted } from './filter-tokens.js'
import { elementLiteral, typedLiteral } from './literal.js'
import { didYouMean } from '../../text/nearest-names.js'
import { planColumn } from './plan-column.js'
import { isStorable } from './reachable.js'
import { type CompareOp, type FilterNode, type PlanColumn, and, isNotNull, isNull, not } from './plan.js'

/** The deepest nesting of parentheses. */
export const MAX_FILTER_NESTING = 64
/** The most comparisons of a filter, including `has()`: each costs the database work for every row. */
export const MAX_FILTER_COMPARISONS = 128
/** How many names a field may have, from the resource to a field inside of its messages. */
const MAX_FILTER_PATH = 8
/** The same for what the server's own code asks. */
const MAX_OWN_COMPARISONS = 1000

/**
 * The plan of an AIP-160 filter, undefined when it is blank. OR binds tighter than AND, terms side by side are ANDed.
 * @param closed - fields that exist and cannot be named.
 * @throws InvalidArgument with the position: a field that is not in `columns`, a value its column cannot hold, text
 * that does not parse, more than 4096 characters, 64 levels or 128 comparisons.
 */
export const parseFilterPlan = (
  expression: string,
  columns: Columns,
  closed?: ReadonlySet<string>,
): FilterNode | undefined =>
  expression === '' ? undefined : new FilterParser(expression, columns, closed).filter()

/**
 * The plan of a filter that the server's own code wrote, undefined when it is blank. Its length has no bound, and a text in it
 * may be one that no column can hold.
 * @throws InvalidArgument with the position.
 */
export const parseOwnFilter = (expression: string, columns: Columns): FilterNode | undefined =>
  new FilterParser(expression, columns, undefined, false).filter()

/** The operand of a filter: a column, or one key of a tags column. */
interface Member {
  readonly name: string
  readonly column: PlanColumn
  readonly key: string | undefined
}

/** One method per rule of the grammar. */
class FilterParser {
  readonly #tokens: FilterTokens
  readonly #columns: Columns
  readonly #closed: ReadonlySet<string> | undefined
  #depth = 0
  #comparisons = 0

  constructor(
    expression: string,
    columns: Columns,
    closed: ReadonlySet<string> | undefined,
    private readonly bounded = true,
  ) {
    this.#tokens = new FilterTokens(expression, bounded)
    this.#columns = columns
    this.#closed = closed
  }

  /** `filter: [expression]` */
  filter(): FilterNode | undefined {
    if (this.#tokens.is('end')) return undefined
    const node = this.#expression()
    const { kind, text } = this.#tokens
    if (kind !== 'end') this.#tokens.fail(`unexpected ${quoted(text)}`)
    return node
  }

  /** `expression: sequence {AND sequence}` */
  #expression(): FilterNode {
    const nodes: FilterNode[] = []
    this.#sequence(nodes)
    while (this.#tokens.isKeyword('AND')) {
      this.#tokens.next()
      this.#sequence(nodes)
    }
    return and(...nodes)
  }

  /** `sequence: factor {factor}`; its factors join those of the expression, since both mean AND. */
  #sequence(nodes: FilterNode[]): void {
    do nodes.push(this.#factor())
    while (startsFactor(this.#tokens))
  }

  /** `factor: term {OR term}` */
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

  /** `term: {NOT | -} simple` */
  #term(): FilterNode {
    let negated = false
    while (this.#tokens.is('-') || this.#tokens.isKeyword('NOT')) {
      negated = !negated
      this.#tokens.next()
    }
    const node = this.#simple()
    return negated ? not(node) : node
  }

  /** `simple: restriction | '(' expression ')'` */
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

  /** `restriction: member comparator value | 'has' '(' member ')'` */
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

    const member = this.#member(text, start)
    if (!tokens.is('op'))
      tokens.fail(`expected a comparison after ${quoted(member.name)}, found ${tokens.found}`)
    const op = tokens.text
    const opStart = tokens.start
    tokens.next()
    const node =
      op === ':' ? this.#colon(member, opStart) : this.#comparison(member, op as CompareOp, opStart)
    tokens.next()
    return node
  }

  /** `has(tags.key)` */
  #has(): FilterNode {
    const tokens = this.#tokens
    tokens.next()
    const { kind, text, start } = tokens
    if (kind !== 'word') tokens.fail(`expected tags.key, found ${tokens.found}`)
    tokens.next()
    const { column, key } = this.#member(text, start)
    if (key === undefined) return tokens.fail('has() takes tags.key; other fields compare with null', start)
    this.#expect(')')
    return { kind: 'has', column, key }
  }

  /** `member: word {'.' (word | string)}`; the first word was already read. */
  #member(first: string, start: number): Member {
    const tokens = this.#tokens
    if (!tokens.is('.')) return { name: first, column: this.#column(first, start), key: undefined }

    const path = [first]
    let isQuoted = false
    while (tokens.is('.')) {
      tokens.next()
      if (!tokens.is('word') && !tokens.is('number') && !tokens.is('string')) {
        tokens.fail(`expected a name after the dot, found ${tokens.found}`)
      }
      if (tokens.is('number') && tokens.text.includes('.')) this.#dottedKey(first, start)
      isQuoted ||= tokens.is('string')
      path.push(tokens.text)
      tokens.next()
    }
    const name = path.join('.')
    if (!Object.hasOwn(this.#columns, first) || Object.hasOwn(this.#columns, name)) {
      return { name, column: this.#column(name, start), key: undefined }
    }
    const column = this.#column(first, start)
    if (column.members !== undefined && isQuoted)
      tokens.fail(`a field inside of ${quoted(first)} is written without quotes`, start)
    if (column.members !== undefined)
      return { name, column: this.#inside(column, path, start), key: undefined }
    if (column.kind !== 'tags') return { name, column: this.#column(name, start), key: undefined }
    const [, key = ''] = path
    if (path.length > 2) return this.#dottedKey(first, start)
    if (!isStorable(key))
      tokens.fail(`a key of ${quoted(first)} has a NUL character, or half of a surrogate pair`, start)
    return { name, column, key }
  }

  /** `address.city`: a field inside of an embedded message. */
  #inside(outer: PlanColumn, path: readonly string[], start: number): PlanColumn {
    const tokens = this.#tokens
    if (path.length > MAX_FILTER_PATH) tokens.fail(`deeper than ${MAX_FILTER_PATH} levels`, start)
    let column = outer
    for (const [i, name] of path.entries()) {
      if (i === 0) continue
      const found = column.members?.of(name)
      const written = quoted(path.slice(0, i + 1).join('.'))
      if (typeof found === 'string') return tokens.fail(`field ${written} ${found}`, start)
      if (found === undefined)
        return tokens.fail(`unknown field ${written}`, start, didYouMean(name, column.members?.names ?? []))
      column = found
    }
    return column
  }

  #dottedKey(field: string, start: number): never {
    return this.#tokens.fail(
      `a key with dots goes in double quotes, as in ${field.slice(0, 64)}."a.b"`,
      start,
    )
  }

  #column(name: string, start: number): PlanColumn {
    const column = Object.hasOwn(this.#columns, name) ? this.#columns[name] : undefined
    if (column !== undefined) return planColumn(column)
    if (this.#closed?.has(name)) return this.#tokens.fail(`field ${quoted(name)} cannot be filtered`, start)
    const names = Object.keys(this.#columns)
    return this.#tokens.fail(`unknown field ${quoted(name)}`, start, didYouMean(name, names))
  }

  /** `:` tests whether text contains a value, and whether tags have a key. */
  #colon({ name, column, key }: Member, opStart: number): FilterNode {
    const tokens = this.#tokens
    const { kind, text } = tokens
    if (kind === '*') return this.#presence({ name, column, key })
    if (column.elements !== undefined)
      return { kind: 'element', column, value: elementLiteral(tokens, name, column.elements) }
    if (column.kind === 'tags' && key === undefined) {
      const isKey =
        (kind === 'string' && isStorable(text)) ||
        ((kind === 'word' || kind === 'number') && !isReserved(tokens))
      return isKey ? { kind: 'has', column, key: text } : tokens.fail(`expected a key, found ${tokens.found}`)
    }
    if (column.kind !== 'string' && column.kind !== 'tags' && column.kind !== 'any') {
      tokens.fail(`":" is for text, lists and tags, not for ${quoted(name)}`, opStart)
    }
    if (kind !== 'string') tokens.fail(`${quoted(name)} takes text in double quotes, not ${tokens.found}`)
    return { kind: 'contains', column, key, value: text }
  }

  /** `x:*` asks whether the field is set (AIP-160). */
  #presence({ name, column, key }: Member): FilterNode {
    if (key !== undefined) return { kind: 'has', column, key }
    const written = quoted(name)
    if (column.elements !== undefined || column.kind === 'tags')
      return this.#tokens.fail(
        column.kind === 'tags'
          ? `${written} is always set: ask for a key, as in ${name}.key:*`
          : `${written} is a list: ask whether it holds a value, as in ${name}:…`,
      )
    // Without presence, a field holds its zero where nothing set it.
    if (!column.nullable || column.inside?.zero !== undefined)
      this.#tokens.fail(`${written} is always set: compare it with a value`)
    return isNotNull(column)
  }

  #comparison(member: Member, op: CompareOp, opStart: number): FilterNode {
    const tokens = this.#tokens
    const { name, column, key } = member
    if (column.elements !== undefined)
      tokens.fail(`${quoted(name)} is a list: ask whether it holds a value, as in ${name}:…`, opStart)
    if (isNullWord(tokens, column)) {
      if (op !== '=' && op !== '!=') tokens.fail(`null compares by = and != only, not by ${op}`, opStart)
      if (key === undefined) return op === '=' ? isNull(column) : isNotNull(column)
      return op === '=' ? not({ kind: 'has', column, key }) : { kind: 'has', column, key }
    }
    if (column.kind === 'tags' && key === undefined) {
      tokens.fail(`${quoted(name)} compares by key, as in ${name}.key ${op} "value"`, opStart)
    }
    if (column.members !== undefined)
      tokens.fail(
        `${quoted(name)} compares by its fields, as in ${name}.${column.members.names[0] ?? 'field'}, or with null`,
        opStart,
      )
    if ((column.kind === 'bool' || column.kind === 'enum') && op !== '=' && op !== '!=') {
      tokens.fail(`${quoted(name)} compares by = and != only, not by ${op}`, opStart)
    }
    return { kind: 'compare', column, key, op, value: typedLiteral(tokens, name, column) }
  }

  #expect(kind: ')'): void {
    if (!this.#tokens.is(kind)) this.#tokens.fail(`expected ${quoted(kind)}, found ${this.#tokens.found}`)
    this.#tokens.next()
  }
}

const startsFactor = (tokens: FilterTokens): boolean =>
  !tokens.is('end') && !tokens.is(')') && !tokens.isKeyword('AND')

const isReserved = (tokens: FilterTokens): boolean =>
  tokens.isKeyword('AND') || tokens.isKeyword('OR') || tokens.isKeyword('NOT')

const isNullWord = (tokens: FilterTokens, column: PlanColumn): boolean =>
  tokens.is('word') && tokens.text === 'null' && column.enumNames?.numberOf.has('null') !== true
