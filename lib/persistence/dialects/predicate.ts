import type { Dialect } from './dialect.js'
import { type Bind, TEXT, bindOf } from './bind.js'
import { columnSql } from './column-sql.js'
import { expandedRow } from '../query/keyset.js'
import { hasTag, tagValue } from './tag-sql.js'
import type {
  CompareNode,
  CompareOp,
  ContainsNode,
  FilterNode,
  HasNode,
  PlanColumn,
  PlanValue,
  RowNode,
} from '../query/plan.js'

/**
 * SQL text that holds for exactly the rows the plan asks for, fit to stand beside AND. The values are appended to
 * `params` in the order of their placeholders, which go on counting from there; the text depends on none of them.
 */
export const toPredicate = (
  node: FilterNode,
  dialect: Dialect,
  params: unknown[],
  bind = bindOf(dialect),
): string => write(node, { dialect, bind, params })

interface Writer {
  readonly dialect: Dialect
  readonly bind: Bind
  readonly params: unknown[]
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
        ? `${columnText(node.node.column, writer)} IS NOT NULL`
        : `NOT (${write(node.node, writer)})`
    case 'null':
      return `${columnText(node.column, writer)} IS NULL`
    case 'compare':
      return comparison(node, writer)
    case 'contains':
      return containment(node, writer)
    case 'has':
      return presence(node, writer)
    case 'row':
      return row(node, writer)
  }
}

/** Longest run of operands side by side. SQLite nests one level per operand and refuses 1000 levels. */
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
  if (key === undefined) return `${columnText(column, writer)} ${SQL_OPS[op]} ${bound(column, value, writer)}`
  const tag = tagText(column, key, writer)
  // MySQL's own collation of JSON text ignores trailing spaces; the order of UTF-8 bytes is that of code points.
  const left = isMysql(writer.dialect) ? `CAST(${tag} AS BINARY)` : tag
  return `${left} ${SQL_OPS[op]} ${bound(TEXT, value, writer)}`
}

/** By substring functions, since LIKE ignores case on SQLite and gives % and _ a meaning. */
const containment = ({ column, key, value }: ContainsNode, writer: Writer): string => {
  if (isMysql(writer.dialect)) {
    // The needle comes first here, and so does its parameter.
    const needle = bound(TEXT, value, writer)
    const text = key === undefined ? columnText(column, writer) : tagText(column, key, writer)
    return `LOCATE(${needle} COLLATE utf8mb4_bin, ${text}) > 0`
  }
  const text = key === undefined ? columnText(column, writer) : tagText(column, key, writer)
  return `${writer.dialect === 'postgres' ? 'strpos' : 'instr'}(${text}, ${bound(TEXT, value, writer)}) > 0`
}

const presence = ({ column, key }: HasNode, writer: Writer): string =>
  hasTag(
    columnText(column, writer),
    key,
    writer.dialect,
    (value) => bound(TEXT, value, writer),
    column.nullable,
  )

/** The value of one tag, as text; NULL where there is none. */
const tagText = (column: PlanColumn, key: string, writer: Writer): string => {
  const text = tagValue(columnText(column, writer), key, writer.dialect, (value) =>
    bound(TEXT, value, writer),
  )
  return writer.dialect === 'postgres' ? `${text} COLLATE "C"` : text
}

const row = (node: RowNode, writer: Writer): string => {
  if (isMysql(writer.dialect)) return write(expandedRow(node), writer)
  const columns = node.columns.map((column) => columnText(column, writer))
  const values = node.columns.map((column, i) => bound(column, node.values[i] as PlanValue, writer))
  return `(${columns.join(', ')}) ${node.op} (${values.join(', ')})`
}

const columnText = (column: PlanColumn, writer: Writer): string => columnSql(column, writer.dialect)

const bound = (column: PlanColumn, value: PlanValue, { bind, params }: Writer): string => {
  const index = params.push(bind.value(column, value))
  return bind.placeholder(column, index)
}

const isMysql = (dialect: Dialect): boolean => dialect === 'mysql' || dialect === 'mariadb'
