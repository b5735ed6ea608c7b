import type { Session } from '../session/session.js'
import { Cursor, nameOf } from '../sql/cursor.js'
import { addedColumns, alterTable, createTable, dropped } from '../sql/statement-shape.js'
import { splitStatements, type Statement } from '../sql/split-statements.js'
import type { Token } from '../sql/tokenize.js'

/** The tables that a run creates, which no other client can have used before. */
export class MadeTables {
  readonly #made = new Set<string>()
  readonly #dropped = new Set<string>()
  readonly #added: Added[] = []

  constructor(private readonly session: Session) {}

  /**
   * Records the tables that a statement creates or drops.
   *
   * @param version - the version that runs the statement. Undefined for statements that have already run.
   */
  async note(statement: Statement, version?: string): Promise<void> {
    if (version !== undefined) this.#added.push(...addedBy(statement).map((one) => ({ ...one, version })))
    const drop = dropped(statement)
    if (drop?.what === 'TABLE') for (const name of drop.names) this.#dropped.add(name)
    const table = createTable(statement)?.table
    if (table === undefined) return
    const { sizeOf } = this.session.engine.effects
    // The table is not created if it exists: the statement has IF NOT EXISTS, or fails.
    const isThere = !this.#dropped.has(table) && (await sizeOf(this.session, table.split('.'))) !== undefined
    if (!isThere) this.#made.add(table)
  }

  has(table: string): boolean {
    return this.#made.has(table)
  }

  /** Returns the last version that adds a table or column of a query. The query cannot run before. */
  addedFor(query: string): string | undefined {
    const [statement] = splitStatements(query, this.session.engine.syntax).statements
    const names = new Set(statement?.tokens.map(nameOf))
    const isNamed = ({ table, column }: Added) =>
      names.has(table.split('.').at(-1) ?? '') && (column === undefined || names.has(column))
    return this.#added.findLast(isNamed)?.version
  }
}

interface Added {
  readonly version: string
  readonly table: string
  /** Undefined for the table itself. */
  readonly column: string | undefined
}

/** Returns the tables and columns that only exist after a statement, under their new names. */
function addedBy(statement: Statement): readonly Omit<Added, 'version'>[] {
  const made = createTable(statement)?.table
  if (made !== undefined) return [{ table: made, column: undefined }]
  const { table, actions } = alterTable(statement) ?? { table: '', actions: [] }
  return actions.flatMap((action) => {
    const columns = addedColumns(action, statement.syntax).map(({ name }) => name)
    const renamed = renamedColumn(action)
    return [...columns, ...(renamed === undefined ? [] : [renamed])].map((column) => ({ table, column }))
  })
}

/** Returns the new name in `RENAME COLUMN a TO b` or `CHANGE a b`. */
function renamedColumn(action: readonly Token[]): string | undefined {
  const cursor = new Cursor(action)
  const isChanged = cursor.take('CHANGE')
  if (!isChanged && !cursor.take('RENAME')) return undefined
  cursor.take('COLUMN')
  const before = cursor.name()
  if (!isChanged && !cursor.take('TO')) return undefined
  const name = cursor.name()
  return name === before ? undefined : name
}
