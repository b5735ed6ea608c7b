import { boundedUpdate } from './backfill.js'
import { Cursor, isWord } from './cursor.js'
import { addedColumns, alterTable, createTable, dropped, droppedColumn } from './statement-shape.js'
import type { Statement } from './split-statements.js'

/** Values that a statement permanently removes. */
export interface Lost {
  readonly what: 'schema' | 'table' | 'column' | 'rows'
  /** The name of the schema, table or column. */
  readonly name: string
  /** Undefined for a schema. */
  readonly table: string | undefined
}

/** Returns the tables, columns and rows whose values a statement permanently removes. */
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

/**
 * Returns the data that an up migration removes and the down migration does not restore. A column counts as
 * restored if the down migration writes it or creates it as a generated column; a table, if it adds rows to
 * it. Objects that the up migration itself creates contain no other data.
 */
export function notBroughtBack(up: readonly Statement[], down: readonly Statement[]): readonly Lost[] {
  const made = new Set(up.flatMap((statement) => createTable(statement)?.table ?? []))
  const filled = new Set(
    down.flatMap((statement) => {
      const { table, sets = [] } = boundedUpdate(statement) ?? {}
      return sets.map((column) => columnKey(table?.at(-1), column))
    }),
  )
  for (const key of down.flatMap(computedBy)) filled.add(key)
  const added = new Set(down.flatMap((statement) => insertedInto(statement) ?? []))
  const lost = up.flatMap(lostBy).filter(({ what, name, table }) => {
    if (made.has(table ?? '') || added.has(table ?? '')) return false
    return what !== 'column' || !filled.has(columnKey(table?.split('.').at(-1), name))
  })
  return [...new Map(lost.map((one) => [JSON.stringify(one), one])).values()]
}

/** Returns the columns that a statement adds and that the database computes. */
function computedBy(statement: Statement): readonly string[] {
  const alter = alterTable(statement)
  return (alter?.actions ?? [])
    .flatMap((action) => addedColumns(action, statement.syntax))
    .filter(({ definition }) =>
      definition.some((token, at) => isWord(token, 'AS') && isWord(definition[at + 1], '(')),
    )
    .map(({ name }) => columnKey(alter?.table.split('.').at(-1), name))
}

const columnKey = (table: string | undefined, column: string): string => `${table ?? ''} ${column}`

function insertedInto({ tokens }: Statement): string | undefined {
  const cursor = new Cursor(tokens)
  return cursor.take('INSERT', 'INTO') ? cursor.name() : undefined
}
