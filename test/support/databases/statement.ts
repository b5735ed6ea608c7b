import type { DialectName } from '../../../lib/persistence/dialects/dialect.js'
import type {
  Executor,
  Result,
  RunOptions,
  Statement,
} from '../../../lib/persistence/engines/executor/executor.js'

let count = 0

/** Returns a statement for SQL with `?`, with a unique name. */
export function statement(text: string, dialect: DialectName): Statement {
  let place = 0
  const own = dialect === 'postgres' ? text.replace(/\?/g, () => `$${++place}`) : text
  return { name: `test_${++count}`, text: own }
}

/** Runs SQL with `?`. */
export const run = (
  on: Executor,
  text: string,
  values: readonly unknown[] = [],
  options?: RunOptions,
): Promise<Result> => on.run(statement(text, on.dialect.name), values, options)

/** Returns the only column of every row, as strings. */
export async function column(on: Executor, text: string, values: readonly unknown[] = []): Promise<string[]> {
  const { rows } = await run(on, text, values)
  return rows.map(([value]) => String(value))
}

/** Return the time in a column, minus a number of milliseconds. */
const BEFORE: Readonly<Record<DialectName, (column: string) => string>> = {
  postgres: (column) => `${column} - ?::double precision * interval '1 millisecond'`,
  mysql: (column) => `DATE_SUB(${column}, INTERVAL ? * 1000 MICROSECOND)`,
  mariadb: (column) => `DATE_SUB(${column}, INTERVAL ? * 1000 MICROSECOND)`,
  sqlite: (column) => `${column} - ?`,
}

/** Moves the times in columns of a table back, as if time had passed for the database's clock. */
export async function agedRows(
  on: Executor,
  table: string,
  columns: readonly string[],
  ms: number,
): Promise<void> {
  const before = BEFORE[on.dialect.name]
  const changes = columns.map((column) => `${column} = ${before(column)}`)
  await run(
    on,
    `UPDATE ${table} SET ${changes.join(', ')}`,
    columns.map(() => ms),
  )
}
