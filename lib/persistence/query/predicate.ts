import type { Dialect } from '../executor.js'
import { type Bind, TEXT, bindOf } from './bind.js'
import { quoteIdentifier } from './identifier.js'
import { expandedRow } from './keyset.js'
import type {
  CompareNode,
  CompareOp,
  ContainsNode,
  FilterNode,
  HasNode,
  PlanColumn,
  PlanValue,
  RowNode,
} from './plan.js'

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

const presence = ({ column, key }: HasNode, writer: Writer): string => {
  const text = columnText(column, writer)
  switch (writer.dialect) {
    case 'postgres':
      return coalesced(`jsonb_exists(${text}, ${bound(TEXT, key, writer)})`, 'FALSE', column)
    case 'mysql':
    case 'mariadb':
      return coalesced(
        `JSON_CONTAINS_PATH(${text}, 'one', ${bound(TEXT, jsonPath(key), writer)})`,
        '0',
        column,
      )
    case 'sqlite':
      return `EXISTS (SELECT 1 ${tagRow(text, key, writer)})`
  }
}

const coalesced = (text: string, otherwise: string, column: PlanColumn): string =>
  column.nullable ? `COALESCE(${text}, ${otherwise})` : text

/** The value of one tag, as text; NULL where there is none. */
const tagText = (column: PlanColumn, key: string, writer: Writer): string => {
  const text = columnText(column, writer)
  switch (writer.dialect) {
    case 'postgres':
      return `(${text} ->> ${bound(TEXT, key, writer)}::text) COLLATE "C"`
    case 'mysql':
    case 'mariadb':
      return `JSON_UNQUOTE(JSON_EXTRACT(${text}, ${bound(TEXT, jsonPath(key), writer)}))`
    case 'sqlite':
      return `(SELECT tag.value ${tagRow(text, key, writer)})`
  }
}

/**
 * The one row of the tag. SQLite's JSON paths cannot spell every key, json_each compares them as text. The column is
 * renamed first, because a column called `key` or `json` would mean one of json_each's own.
 */
const tagRow = (text: string, key: string, writer: Writer): string =>
  `FROM (SELECT ${text} AS held) AS tags, json_each(tags.held) AS tag WHERE tag.key = ${bound(TEXT, key, writer)}`

/** A path to one key: the quoted part of a path is a JSON string. */
const jsonPath = (key: string): string => `$.${JSON.stringify(key)}`

const row = (node: RowNode, writer: Writer): string => {
  if (isMysql(writer.dialect)) return write(expandedRow(node), writer)
  const columns = node.columns.map((column) => columnText(column, writer))
  const values = node.columns.map((column, i) => bound(column, node.values[i] as PlanValue, writer))
  return `(${columns.join(', ')}) ${node.op} (${values.join(', ')})`
}

const columnText = (column: PlanColumn, writer: Writer): string =>
  quoteIdentifier(column.column, writer.dialect)

const bound = (column: PlanColumn, value: PlanValue, { bind, params }: Writer): string => {
  const index = params.push(bind.value(column, value))
  return bind.placeholder(column, index)
}

const isMysql = (dialect: Dialect): boolean => dialect === 'mysql' || dialect === 'mariadb'
