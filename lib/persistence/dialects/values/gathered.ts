import type { Column } from '../../../resource/fields/field.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import type { KindsSql } from './kind-sql.js'

/** The maximum number of arguments of a SQL function. */
const MAX_COLUMNS = 100

/** JSON may write a character as six, and JavaScript limits strings to 512 MiB. */
const MAX_BYTES = 16 * 1024 * 1024

/** The name of the rows that a statement combines or retains. */
export const PAGE = '(page)'

/** The only column of a statement that combines rows. */
export const GATHERED = 'gathered'

/**
 * Returns SQL that combines all rows of a SELECT into one string. This takes server and client less time than
 * a message per row. The result is a JSON array with one array per column, which contains the values in row
 * order, or null if the column has none. The result is NULL if the rows are too large. Decoders accept the
 * values in this form, too. Returns undefined for columns that the engine cannot combine.
 */
export type Gathered = (
  columns: readonly Pick<Column, 'kind' | 'column' | 'enumNames'>[],
  maxBytes?: number,
) => GatheredSql | undefined

export interface GatheredSql {
  /** The SQL before the SELECT. The SELECT must return the columns unchanged under their names. */
  readonly before: string
  /** The SQL after the SELECT. A condition can follow. */
  readonly after: string
  /** The name of each column in the page. */
  readonly names: readonly string[]
}

/** The engine-specific SQL for combining rows. */
interface Gathering {
  readonly quote: (name: string) => string
  readonly kinds: KindsSql
  readonly all: (element: string) => string
  readonly array: (elements: readonly string[]) => string
  /** Returns the size of a string in bytes. */
  readonly bytes: (text: string) => string
}

export const gatheredBy =
  ({ quote, kinds, all, array, bytes }: Gathering): Gathered =>
  (columns, maxBytes = MAX_BYTES) => {
    if (columns.length > MAX_COLUMNS) return undefined
    // No column may have one of these names, because ORDER BY would resolve to them first.
    const names = columns.map((_, i) => quote(`(${i})`))
    const elements: string[] = []
    for (const [i, column] of columns.entries()) {
      const text = kinds[column.kind].gathered?.(quote(column.column), column)
      if (text === undefined) return undefined
      elements.push(`${text} AS ${names[i]}`)
    }
    const sizes = names
      .filter((_, i) => !kindOf(columns[i] as Column).isSmall)
      .map((name) => `COALESCE(${bytes(name)}, 0)`)
    const page = quote(PAGE)
    const numbers = names.map((name, i) => kinds[(columns[i] as Column).kind].numbered?.(name))
    const gathered = (form: 'number' | 'text') =>
      `(SELECT ${array(names.map((name, i) => all(numbers[i]?.[form] ?? name)))} FROM ${page})`
    const inexact = numbers.flatMap((one) => one?.isInexact ?? [])
    const seen = [
      ...(sizes.length === 0
        ? []
        : [`SUM(${sizes.join(' + ')}) > ${Math.min(maxBytes, MAX_BYTES)} AS is_large`]),
      ...(inexact.length === 0 ? [] : [`BOOL_OR(${inexact.join(' OR ')}) AS is_inexact`]),
    ]
    const cases = [
      ...(sizes.length === 0 ? [] : ['WHEN is_large THEN NULL']),
      ...(inexact.length === 0 ? [] : [`WHEN is_inexact THEN ${gathered('text')}`]),
    ]
    const whole = gathered('number')
    const selected =
      cases.length === 0
        ? `${whole} AS ${GATHERED}`
        : `CASE ${cases.join(' ')} ELSE ${whole} END AS ${GATHERED} FROM (SELECT ${seen.join(', ')} FROM ${page}) AS seen`
    return {
      names,
      before: `WITH ${page} AS MATERIALIZED (SELECT ${elements.join(', ')} FROM (`,
      after: `) AS ${quote('(rows)')}) SELECT ${selected}`,
    }
  }
