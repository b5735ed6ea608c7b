import { Cursor } from './cursor.js'
import { alterTable, dropped, droppedColumn } from './statement-shape.js'
import type { Statement } from './statements.js'

/** Values that a statement takes away for good. */
export interface Lost {
  readonly what: 'schema' | 'table' | 'column' | 'rows'
  /** Of the schema, of the table, or of the column. */
  readonly name: string
  /** Undefined for a schema. */
  readonly table: string | undefined
}

/** The tables, columns and rows whose values a statement takes away for good. */
export function lostBy(statement: Statement): readonly Lost[] {
  const { tokens, syntax } = statement
  const drop = dropped(statement)
  if (drop?.what === 'SCHEMA') return drop.names.map((name) => ({ what: 'schema', name, table: undefined }))
  if (drop?.what === 'TABLE') return drop.names.map((name) => ({ what: 'table', name, table: name }))
  const alter = alterTable(statement)
  if (alter !== undefined)
    return alter.actions.flatMap((action) => {
      const column = droppedColumn(action, syntax)
      return column === undefined ? [] : [{ what: 'column', name: column, table: alter.table }]
    })
  const cursor = new Cursor(tokens)
  if (!cursor.take('DELETE') && !cursor.take('TRUNCATE')) return []
  cursor.skip('LOW_PRIORITY', 'QUICK', 'IGNORE', 'FROM', 'TABLE', 'ONLY')
  const table = cursor.name()
  return [{ what: 'rows', name: table ?? '', table }]
}
