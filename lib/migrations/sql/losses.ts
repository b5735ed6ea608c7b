import { isWord } from './cursor.js'
import { alterTable, dropped, droppedColumn } from './statement-shape.js'
import type { Statement } from './statements.js'

/** The tables, columns and rows whose values a statement takes away for good, such as `column colour of tasks`. */
export function lostBy(statement: Statement): readonly string[] {
  const { tokens, syntax } = statement
  const drop = dropped(statement)
  if (drop?.what === 'TABLE' || drop?.what === 'SCHEMA')
    return drop.names.map((name) => `${drop.what.toLowerCase()} ${name}`)
  const alter = alterTable(statement)
  const columns = alter?.actions.flatMap((action) => droppedColumn(action, syntax) ?? []) ?? []
  if (alter !== undefined) return columns.map((column) => `column ${column} of ${alter.table}`)
  const verb = ['DELETE', 'TRUNCATE'].find((word) => isWord(tokens[0], word))
  const table = tokens.find(({ kind, value }) => kind !== 'symbol' && !NOT_A_NAME.includes(value))
  return verb === undefined ? [] : [`rows of ${table?.text ?? 'a table'}`]
}

const NOT_A_NAME = ['DELETE', 'TRUNCATE', 'FROM', 'TABLE', 'ONLY']
