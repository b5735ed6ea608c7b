/** The values that a column can have. A JSON column takes its text. */
export type BackfillValue = string | number | bigint | boolean | Date | Uint8Array | null

/** A backfill whose values a function computes. */
export interface RowBackfillOptions<Read extends string, Set extends string> {
  /** `tasks`, or `inventory.tasks`. */
  readonly table: string
  /** The columns that `row` gets. */
  readonly reads: readonly Read[]
  /** The columns that it may set; none of the primary key. */
  readonly sets: readonly Set[]
  /** The most rows of a chunk, 1 to 100000. Default 1000. */
  readonly chunk?: number
  /**
   * The values of one row. A column that is left out stays as it is, and so does the row for `undefined`. A
   * value is read as the package of the engine reads it: a 64-bit integer is a string, on MySQL a number
   * where it fits. The rows of the chunk are locked meanwhile, so compute, and make no call.
   */
  readonly row: (
    row: Readonly<Record<Read, unknown>>,
  ) => RowChange<Set> | undefined | Promise<RowChange<Set> | undefined>
}

/** The values that a backfill writes into a row, by column name. */
export type RowChange<Set extends string = string> = Readonly<Partial<Record<Set, BackfillValue>>>

/** The default export of `NNNN_description.up.ts`. Made by `backfill`. */
export class RowBackfill {
  constructor(
    readonly table: string,
    readonly reads: readonly string[],
    readonly sets: readonly string[],
    readonly chunk: number,
    readonly row: (row: Readonly<Record<string, unknown>>) => unknown,
  ) {}
}

const DEFAULT_CHUNK = 1_000
const MAX_ROWS = 100_000

/**
 * A backfill for what SQL cannot compute: the default export of a file `NNNN_description.up.ts` (or `.js`)
 * beside the SQL files. It runs in chunks as a backfill in SQL does: each chunk is a transaction that reads
 * and locks its rows, writes them, and moves the stored position, so that a run that was killed writes no row
 * twice and leaves none out.
 * @throws {TypeError} for options that cannot be used.
 * @example
 * ```ts
 * import { backfill } from 'ashlar/migrations'
 *
 * export default backfill({
 *   table: 'tasks',
 *   reads: ['title'],
 *   sets: ['slug'],
 *   row: ({ title }) => ({ slug: String(title).toLowerCase().replaceAll(' ', '-') }),
 * })
 * ```
 */
export function backfill<const Read extends string, const Set extends string>({
  table,
  reads,
  sets,
  chunk = DEFAULT_CHUNK,
  row,
}: RowBackfillOptions<Read, Set>): RowBackfill {
  const problems = [
    ...(isPath(table) ? [] : ['table must be a name, or a schema and a name separated by a dot']),
    ...(reads.every(isName) ? [] : ['reads must list columns by name']),
    ...(sets.length > 0 && sets.every(isName) ? [] : ['sets must list at least one column by name']),
    ...(Number.isInteger(chunk) && chunk >= 1 && chunk <= MAX_ROWS
      ? []
      : [`chunk must be 1 to ${MAX_ROWS} rows`]),
    ...(typeof row === 'function' ? [] : ['row must be a function']),
  ]
  if (problems.length > 0) throw new TypeError(`backfill: ${problems.join('; ')}`)
  return new RowBackfill(table, reads, sets, chunk, row as RowBackfill['row'])
}

const isName = (name: unknown): boolean => typeof name === 'string' && name !== '' && !name.includes('\0')
const isPath = (table: unknown): boolean =>
  typeof table === 'string' && [1, 2].includes(table.split('.').length) && table.split('.').every(isName)

/**
 * The backfill as a file of SQL: what is recorded of the version, and what lint and plan read.
 * @param source - the text of the file, for its checksum and for the record.
 */
export function sqlOfBackfill(
  { table, sets, chunk }: RowBackfill,
  source: string,
  nameQuote: string,
): string {
  const quoted = (name: string) => nameQuote + name.replaceAll(nameQuote, nameQuote + nameQuote) + nameQuote
  const code = source
    .trimEnd()
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => `--   ${line}`.trimEnd())
  return [
    `-- ashlar:backfill chunk=${chunk}`,
    '-- A function computes the values of each row:',
    ...code,
    `UPDATE ${table.split('.').map(quoted).join('.')}`,
    `SET ${sets.map((name) => `${quoted(name)} = ${quoted(name)}`).join(', ')};`,
    '',
  ].join('\n')
}
