import type { Dialect } from './dialect.js'
import { amongAllSql, amongSql, columnSql, equalSql, storedSql } from './column-sql.js'
import { besideOf, isAll, type RowNames } from './joined-rows.js'
import { StoredLiteral } from '../../resource/kinds/stored-literal.js'
import { string } from '../../resource/kinds/text.js'
import type { WriteText } from './values/tag-sql.js'
import { expandedRow } from '../query/keyset.js'
import type {
  AmongNode,
  CompareNode,
  CompareOp,
  ContainsNode,
  ElementNode,
  FilterNode,
  HasNode,
  PlanColumn,
  PlanValue,
  RelatedRow,
  RowNode,
  SomeNode,
} from '../query/query-plan.js'

/**
 * Returns a condition that is true for exactly the rows of the plan and can be combined with AND. Appends the
 * values to `params`; placeholders are numbered from there. The SQL does not depend on the values.
 *
 * @param names - the qualifiers of columns, if the statement reads several tables.
 */
export const toPredicate = (
  node: FilterNode,
  dialect: Dialect,
  params: unknown[],
  names?: RowNames,
): string => write(node, { dialect, params, names })

/** Returns the joins of a statement, to follow FROM. Appends their values to `params`. */
export const toJoins = (
  rows: readonly RelatedRow[],
  dialect: Dialect,
  params: unknown[],
  names: RowNames,
): string => names.joins(rows, dialect, (node, inside) => toPredicate(node, dialect, params, inside))

/** A column for placeholders that are bound as plain strings. */
const TEXT: PlanColumn = { column: '', kind: string.name, nullable: false }

interface Writer {
  readonly dialect: Dialect
  readonly params: unknown[]
  readonly names: RowNames | undefined
}

const SQL_OPS: Readonly<Record<CompareOp, string>> = {
  '=': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
}

const write = (node: FilterNode, writer: Writer): string => {
  switch (node.kind) {
    case 'and':
      return node.nodes.length === 0 ? '1 = 1' : joined(node.nodes, ' AND ', writer)
    case 'or':
      return node.nodes.length === 0 ? '1 = 0' : `(${joined(node.nodes, ' OR ', writer)})`
    case 'not':
      return node.node.kind === 'null'
        ? `${storedText(node.node.column, writer)} IS NOT NULL`
        : `NOT (${write(node.node, writer)})`
    case 'null':
      return `${storedText(node.column, writer)} IS NULL`
    case 'compare':
      return comparison(node, writer)
    case 'contains':
      return containment(node, writer)
    case 'has':
      return presence(node, writer)
    case 'element':
      return elementSql(node, writer)
    case 'among':
      return among(node, writer)
    case 'some':
      return someSql(node, writer)
    case 'row':
      return row(node, writer)
  }
}

/** The maximum number of operands in a row. SQLite nests one level per operand and rejects 1000 levels. */
const MAX_RUN = 8

const joined = (nodes: readonly FilterNode[], operator: ' AND ' | ' OR ', writer: Writer): string => {
  if (nodes.length > MAX_RUN) {
    const half = nodes.length >> 1
    const left = joined(nodes.slice(0, half), operator, writer)
    return `(${left})${operator}(${joined(nodes.slice(half), operator, writer)})`
  }
  let text = ''
  for (const node of nodes) {
    const operand = write(node, writer)
    if (text !== '') text += operator
    text += operator === ' OR ' && node.kind === 'and' ? `(${operand})` : operand
  }
  return text
}

const comparison = (node: CompareNode, writer: Writer): string => {
  const { column, key, op, value } = node
  const read =
    node.isRead && column.inside === undefined && writer.dialect.values.kinds[column.kind].millisecond
  if (read) return readComparison(node, read(value as Date), writer)
  if (key === undefined) {
    const text = columnText(column, writer)
    const compared = isTextInside(column, writer) ? writer.dialect.values.tags.compared(text) : text
    if (column.nullIsZero === true && op === '=' && column.of === undefined) {
      // The first condition is redundant, but an index can serve it.
      const alone = storedText(bare(column), writer)
      const found = `(${alone} = ${bound(column, value, writer)} OR ${alone} IS NULL)`
      return `(${found} AND ${compared} = ${bound(column, value, writer)})`
    }
    if (op === '=' && (column.collation !== undefined || isLabel(column, value)))
      return equalSql(storedText(column, writer), column, bound(column, value, writer), writer.dialect)
    return `${compared} ${SQL_OPS[op]} ${bound(column, value, writer)}`
  }
  const tag = writer.dialect.values.tags.compared(tagText(column, key, writer))
  return `${tag} ${SQL_OPS[op]} ${bound(TEXT, value, writer)}`
}

/**
 * Returns true for a declared label. On an enum type of the engine, comparing any other label would fail the
 * statement.
 */
const isLabel = ({ enumNames }: PlanColumn, value: PlanValue): boolean =>
  enumNames?.labels?.numberOf.has(value as string) === true

const bare = ({ nullIsZero: _, ...column }: PlanColumn): PlanColumn => column

/** Compares a range of values, so that the column stands alone and an index can serve it. */
const readComparison = (
  { column, op }: CompareNode,
  [first, last]: readonly [unknown, unknown],
  writer: Writer,
): string => {
  const { dialect, params } = writer
  const text = columnText(column, writer)
  const to = (sign: string, value: unknown) =>
    `${text} ${sign} ${dialect.values.kinds[column.kind].placeholder(column, params.push(value))}`
  switch (op) {
    case '=':
      return `(${to('>=', first)} AND ${to('<=', last)})`
    case '!=':
      return `(${to('<', first)} OR ${to('>', last)})`
    case '<':
    case '>=':
      return to(op, first)
    case '>':
    case '<=':
      return to(op, last)
  }
}

/** Uses substring functions, because LIKE ignores case on SQLite and interprets % and _. */
const containment = ({ column, key, value }: ContainsNode, writer: Writer): string => {
  const { dialect } = writer
  return dialect.text.contains(
    () =>
      key !== undefined
        ? dialect.values.tags.searched(tagText(column, key, writer))
        : isTextInside(column, writer)
          ? dialect.values.tags.searched(columnText(column, writer))
          : searchedText(column, writer),
    () => bound(TEXT, value, writer),
  )
}

const presence = ({ column, key }: HasNode, writer: Writer): string =>
  writer.dialect.values.tags.has(
    columnText(column, writer),
    key,
    (value) => bound(TEXT, value, writer),
    column.nullable || column.nullIsZero === true,
  )

/** Returns true for a string in JSON, which does not have the column's collation. */
const isTextInside = ({ inside, kind }: PlanColumn, writer: Writer): boolean =>
  inside !== undefined && writer.dialect.values.kinds[kind].isText

const elementSql = ({ column, value }: ElementNode, writer: Writer): string => {
  if (column.list?.as === 'commas')
    return String(value).includes(',') ? '1 = 0' : inCommas(column, value, writer)
  return writer.dialect.values.json.holds(
    columnText(column, writer),
    value,
    (text) => bound(TEXT, text, writer),
    column,
  )
}

/**
 * Returns the condition for an element of a comma-separated list. An empty string is an empty list; a list of
 * one empty element is never stored.
 */
const inCommas = (column: PlanColumn, value: ElementNode['value'], writer: Writer): string => {
  const { text } = writer.dialect
  const list = columnText(column, writer)
  const found = text.contains(
    () => text.concat([text.literal(','), list, text.literal(',')]),
    () => bound(TEXT, `,${String(value)},`, writer),
  )
  return `(COALESCE(${list}, '') <> '' AND ${found})`
}

/** Returns a tag's value as a string, or NULL if the tag is missing. */
const tagText = (column: PlanColumn, key: string, writer: Writer): string =>
  writer.dialect.values.tags.value(columnText(column, writer), key, (value) => bound(TEXT, value, writer))

/**
 * Returns the comparison with several values. If the engine has arrays, the values are one array. Otherwise
 * the list is padded, so that few statements serve many lengths.
 */
const among = ({ column, values }: AmongNode, writer: Writer): string => {
  const { dialect, params } = writer
  const [last] = values.slice(-1)
  if (last === undefined) return '1 = 0'
  const text = storedText(column, writer)
  const kind = dialect.values.kinds[column.kind]
  const array = kind.arrayType?.(column)
  if (array !== undefined) {
    const stored = values.map((value) => kind.value(value, column))
    const all = `= ANY(${dialect.values.countPlaceholder(params.push(stored))}::${array})`
    return amongAllSql(text, column, all, dialect)
  }
  const length = 2 ** Math.ceil(Math.log2(values.length))
  const places = Array.from({ length }, (_, i) => bound(column, values[i] ?? last, writer))
  return amongSql(text, column, places, dialect)
}

const someSql = ({ rows, node }: SomeNode, { dialect, params, names }: Writer): string => {
  if (names === undefined) throw new TypeError('a filter over related rows requires RowNames')
  const inside = names.inside()
  const joins = toJoins(besideOf([node], []).joined, dialect, params, inside)
  const conditions = [names.equalities(rows, inside.own, dialect)]
  for (const each of [rows.where, node])
    if (!isAll(each)) conditions.push(toPredicate(each, dialect, params, inside))
  return `EXISTS (SELECT 1 FROM ${names.table(rows, inside.own, dialect)}${joins} WHERE ${conditions.join(' AND ')})`
}

const row = (node: RowNode, writer: Writer): string => {
  if (!writer.dialect.can.rowComparison) return write(expandedRow(node), writer)
  const columns = node.columns.map((column) => columnText(column, writer))
  const values = node.columns.map((column, i) => bound(column, node.values[i] as PlanValue, writer))
  return `(${columns.join(', ')}) ${node.op} (${values.join(', ')})`
}

const textIn =
  (writer: Writer): WriteText =>
  (text) =>
    bound(TEXT, text, writer)

const columnText = (column: PlanColumn, writer: Writer, { dialect, names } = writer): string =>
  columnSql(column, dialect, names?.of(column.of), textIn(writer))

const storedText = (column: PlanColumn, writer: Writer, { dialect, names } = writer): string =>
  storedSql(column, dialect, names?.of(column.of), textIn(writer))

/**
 * Returns a column for a substring search. PostgreSQL does not support the search with a nondeterministic
 * collation.
 */
const searchedText = (column: PlanColumn, writer: Writer): string => {
  const text = storedText(column, writer)
  return column.collation === undefined ? text : writer.dialect.values.tags.searched(text)
}

const bound = (column: PlanColumn, value: PlanValue, { dialect, params }: Writer): string => {
  const sql = dialect.values.kinds[column.kind]
  if (value instanceof StoredLiteral) {
    const literal = sql.literal?.(value, params.length + 1)
    if (literal === undefined) throw new TypeError(`${column.column} cannot contain ${value.text}`)
    params.push(literal.value)
    return literal.sql
  }
  return sql.placeholder(column, params.push(sql.value(value, column)))
}
