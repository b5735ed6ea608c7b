/** The values of columns. A JSON column accepts a string. */
export type BackfillValue = string | number | bigint | boolean | Date | Uint8Array | null

/** A backfill whose values a function computes. */
export interface RowBackfillOptions<Read extends string, Set extends string> {
  /** The table, such as `tasks` or `inventory.tasks`. */
  readonly table: string
  /** The columns that `row` receives. */
  readonly reads: readonly Read[]
  /** The columns that `row` may set. They must not be in the primary key. */
  readonly sets: readonly Set[]
  /** The maximum number of rows per chunk, from 1 to 100,000. Default: 1,000. */
  readonly chunk?: number
  /**
   * Returns the new values of a row. Omitted columns stay unchanged, and so does the whole row for
   * `undefined`. Values have the types of the engine's driver: a 64-bit integer is a string, on MySQL a
   * number if it fits. The chunk's rows are locked meanwhile, so do not make calls to other services.
   */
  readonly row: (
    row: Readonly<Record<Read, unknown>>,
  ) => RowChange<Set> | undefined | Promise<RowChange<Set> | undefined>
}

/** The values to write to a row, by column name. */
export type RowChange<Set extends string = string> = Readonly<Partial<Record<Set, BackfillValue>>>

/** The default export of `NNNN_description.up.ts`, created by `backfill`. */
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
 * Defines a backfill whose values SQL cannot compute. It is the default export of a file
 * `NNNN_description.up.ts` (or `.js`) in the folder of the SQL files. It runs in chunks, like a backfill in
 * SQL. Each chunk is a transaction that locks and writes its rows and stores the position. A run that was
 * killed therefore neither repeats nor skips rows.
 *
 * @throws {TypeError} if an option is invalid.
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
 * Returns the backfill as SQL, for the version's record and for lint and plan.
 *
 * @param source - the text of the file, for the checksum and the record.
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
