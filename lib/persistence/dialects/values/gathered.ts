import type { Column } from '../../../resource/fields/field.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import type { KindsSql } from './kind-sql.js'

/** The most arguments of a function. */
const MAX_COLUMNS = 100

/** JSON writes some characters as six, and JavaScript's strings have 512 MiB at most. */
const MAX_BYTES = 16 * 1024 * 1024

/** The name that a statement gives to the rows that it gathers, or keeps. */
export const PAGE = '(page)'

/** The one column of a statement that gathers. */
export const GATHERED = 'gathered'

/**
 * Selects all rows of a SELECT as one text, which costs both sides less than a message for each: a JSON array
 * with an array for each of the columns, or null for one, of its values in the order of the rows. NULL where
 * the rows are too large for that. Decoders take the values as they take what `selected` gives. Undefined for
 * columns that the engine cannot gather.
 */
export type Gathered = (
  columns: readonly Pick<Column, 'kind' | 'column' | 'enumNames'>[],
  maxBytes?: number,
) => GatheredSql | undefined

export interface GatheredSql {
  /** The text before the SELECT, which selects the columns as they are, under their names. */
  readonly before: string
  /** The text after it. A condition can follow. */
  readonly after: string
  /** The name of each column in the page. */
  readonly names: readonly string[]
}

/** The SQL of an engine for gathering. */
interface Gathering {
  readonly quote: (name: string) => string
  readonly kinds: KindsSql
  readonly all: (element: string) => string
  readonly array: (elements: readonly string[]) => string
  /** The number of bytes a text has. */
  readonly bytes: (text: string) => string
}

export const gatheredBy =
  ({ quote, kinds, all, array, bytes }: Gathering): Gathered =>
  (columns, maxBytes = MAX_BYTES) => {
    if (columns.length > MAX_COLUMNS) return undefined
    // In ORDER BY a selected name takes precedence over a column's: no column has one of these.
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
