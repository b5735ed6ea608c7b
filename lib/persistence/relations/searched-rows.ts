import type { Field } from '../../resource/fields/field.js'
import { keyPartOf, type PartValue } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { amongAllSql, amongSql, isOfTenant, ofSomeTenant } from '../dialects/column-sql.js'
import { quoteTable } from '../dialects/quote-table.js'
import { toOrderBy } from '../dialects/to-order-by.js'
import type { GatheredSql } from '../dialects/values/gathered.js'
import { partSql } from '../dialects/values/part-sql.js'
import { padToPowerOfTwo } from '../dialects/values/pad-to-power-of-two.js'
import type { BoundStatement, Row, Statement } from '../engines/executor/executor.js'
import { named, plannedByValue } from '../engines/executor/named.js'
import type { RelationLoad } from './relation-loads.js'
import type { Search } from './search.js'

/** The properties that determine the SQL of a search. */
interface Shape {
  readonly by: Field
  /** The number of placeholders for the values, or where the page has stored the values. */
  readonly values: { readonly bound: number } | { readonly kept: BehindPage }
  readonly isOwned: boolean
  /** True if rows are sorted by key and limited. */
  readonly isSorted: boolean
  /** True if rows are combined into one string, if the engine supports it. */
  readonly isGathered: boolean
}

/** The position of a search that follows a page in the same round trip. */
export interface BehindPage {
  /** The number under which the page has stored the values. */
  readonly number: number
  /**
   * Set if the last statement returns the combined strings of all: the number of this statement's string, and
   * true if it is the last.
   */
  readonly texts: { readonly number: number; readonly isLast: boolean } | undefined
}

/** A statement, with true if its rows are combined into one string. */
interface Form {
  readonly statement: Statement
  readonly asText: boolean
}

/** A search to send. */
export interface Searching extends BoundStatement {
  /** Returns the entities in the statement's rows, or undefined if the rows are too large for one string. */
  entitiesIn(rows: readonly Row[]): object[] | undefined
}

/**
 * Creates entities from rows of which some columns are known and therefore not selected: the rows are live,
 * or belong to a known tenant.
 */
export interface KnownHydrators<E> {
  /** The fields in the order of the select list. */
  readonly selected: readonly Field[]
  readonly row: (row: Row, tenant: PartValue | undefined) => E
  /**
   * Converts columns to entities.
   *
   * @param columns - the values of all rows, by column.
   * @param count - the number of rows.
   */
  readonly columns: (
    columns: readonly (readonly unknown[])[],
    count: number,
    tenant: PartValue | undefined,
  ) => E[]
}

interface Reading extends KnownHydrators<object> {
  /** Undefined if the engine cannot combine these columns. */
  readonly gathered: GatheredSql | undefined
}

/**
 * Returns the values of all rows, by column.
 *
 * @param text - the combined string.
 * @param count - the number of columns.
 */
export function columnsIn(text: string, count: number): readonly (readonly unknown[])[] {
  const columns = JSON.parse(text) as (readonly unknown[] | null)[]
  // SQL returns null for every column if there are no rows.
  return columns[0] === null ? Array<readonly unknown[]>(count).fill([]) : (columns as unknown[][])
}

/** Finds the live rows of a resource. The SQL of each kind of search is generated once. */
export class SearchedRows {
  readonly #owned: Reading
  readonly #any: Reading
  readonly #forms = new Map<string, Form>()

  /**
   * @param hydrators - create entities from live rows, of one tenant or of any.
   */
  constructor(
    private readonly model: ResourceModel,
    private readonly dialect: Dialect,
    private readonly table: TableName,
    hydrators: (isOwned: boolean) => KnownHydrators<object>,
  ) {
    const reading = (isOwned: boolean): Reading => {
      const known = hydrators(isOwned)
      return { ...known, gathered: dialect.values.gathered?.(known.selected) }
    }
    this.#owned = reading(true)
    this.#any = reading(false)
  }

  /**
   * Returns a search as a statement.
   *
   * @param tenant - the call's tenant, if the resource has one.
   * @param isGathered - true to combine the rows into one string, if the engine can.
   */
  searching(
    { relation, values, size }: Search,
    tenant: string | undefined,
    isGathered = this.dialect.values.gathered !== undefined,
  ): Searching {
    const stored = values.map(partSql(relation.by, this.dialect).bind)
    const requested: readonly unknown[] = !this.dialect.can.arrays ? padToPowerOfTwo(stored) : [stored]
    return this.#sent(relation.by, { bound: requested.length }, requested, tenant, size, isGathered)
  }

  /** Returns true if the rows are combined into one string. */
  areGathered(tenant: string | undefined): boolean {
    return this.#reading(this.#isOwned(tenant)).gathered !== undefined
  }

  /** Returns the search for values that the page has stored. */
  behind(
    relation: RelationLoad,
    kept: BehindPage,
    tenant: string | undefined,
    size: number | undefined,
  ): Searching {
    return this.#sent(relation.by, { kept }, [], tenant, size, this.dialect.values.gathered !== undefined)
  }

  #sent(
    by: Field,
    values: Shape['values'],
    requested: readonly unknown[],
    tenant: string | undefined,
    size: number | undefined,
    isGathered: boolean,
  ): Searching {
    const owner = tenant === undefined ? undefined : this.model.tenant
    const isOwned = owner !== undefined
    const bound = isOwned
      ? [partSql(owner, this.dialect).bind(tenant as string), ...requested]
      : [...requested]
    if (size !== undefined) bound.push(size + 1)
    const { statement, asText } = this.#form({
      by,
      values,
      isOwned,
      isSorted: size !== undefined,
      isGathered,
    })
    const whose = owner && keyPartOf(owner).valueOf(tenant as string)
    return { statement, values: bound, entitiesIn: (rows) => this.#entitiesIn(rows, asText, isOwned, whose) }
  }

  #entitiesIn(
    rows: readonly Row[],
    asText: boolean,
    isOwned: boolean,
    tenant: PartValue | undefined,
  ): object[] | undefined {
    const { selected, row, columns } = this.#reading(isOwned)
    if (!asText) return rows.map((one) => row(one, tenant))
    const text = rows[0]?.[0]
    if (typeof text !== 'string') return undefined
    const values = columnsIn(text, selected.length)
    return columns(values, values[0]?.length ?? 0, tenant)
  }

  #isOwned(tenant: string | undefined): boolean {
    return tenant !== undefined && this.model.tenant !== undefined
  }

  #reading(isOwned: boolean): Reading {
    return isOwned ? this.#owned : this.#any
  }

  #form(shape: Shape): Form {
    const { by, values, isOwned, isSorted, isGathered } = shape
    const requested = 'kept' in values ? keyOf(values.kept) : values.bound
    const key = `${by.column} ${requested} ${isOwned} ${isSorted} ${isGathered}`
    let form = this.#forms.get(key)
    if (form === undefined) this.#forms.set(key, (form = this.#made(shape)))
    return form
  }

  /**
   * Returns a statement with these parameters: the tenant if there is one, the values, and the limit if there
   * is one.
   */
  #made({ by, values, isOwned, isSorted, isGathered }: Shape): Form {
    const { dialect, model, table } = this
    const { tenant, deleteTime } = model
    let bound = 0
    const column = (field: Field) => dialect.text.quote(field.column)
    const array = dialect.values.kinds[by.kind].arrayType?.(by)
    const bind = (field: Field) => dialect.values.kinds[field.kind].placeholder(field, ++bound)
    const conditions: string[] = []
    if (isOwned && tenant !== undefined) conditions.push(isOfTenant(model, bind, dialect))
    const among = (elements: string | undefined) =>
      amongAllSql(column(by), by, `IN (SELECT unnest(${elements}))`, dialect)
    // A subquery lets PostgreSQL hash the values or look them up in an index. With `= ANY(…)`, a plan that
    // reads all rows of a tenant would compare each row with each value.
    if ('kept' in values)
      conditions.push(among(dialect.values.handOver?.kept(values.kept.number, array ?? 'text[]')))
    else if (array !== undefined)
      conditions.push(among(`${dialect.values.countPlaceholder(++bound)}::${array}`))
    else {
      const requested = Array.from({ length: values.bound }, () => bind(by))
      conditions.push(amongSql(column(by), by, requested, dialect))
    }
    if (deleteTime !== undefined) conditions.push(`${column(deleteTime)} IS NULL`)
    const owned = isOwned ? '' : ofSomeTenant(model, dialect)
    const found = `${quoteTable(table, dialect)} WHERE ${conditions.join(' AND ')}${owned}`
    const from = `FROM ${isSorted ? this.#sorted(found, dialect.values.countPlaceholder(++bound)) : found}`
    // The number of referring rows varies between tenants.
    const made = by === this.model.key ? named : plannedByValue
    const { selected, gathered } = this.#reading(isOwned)
    if (isGathered && gathered !== undefined) {
      const { before, after } = gathered
      const text = `${before}SELECT ${selected.map(column).join(', ')} ${from}${after}`
      const texts = 'kept' in values ? values.kept.texts : undefined
      return { statement: made(texts === undefined ? text : this.#behindPage(texts, text)), asText: true }
    }
    const columns = selected.map((field) =>
      dialect.values.kinds[field.kind].selected(column(field), column(field), field),
    )
    return { statement: made(`SELECT ${columns.join(', ')} ${from}`), asText: false }
  }

  #behindPage({ number, isLast }: NonNullable<BehindPage['texts']>, text: string): string {
    const {
      values: { handOver },
    } = this.dialect
    return (isLast ? handOver?.withTexts(number, text) : handOver?.keepingText(number, text)) ?? text
  }

  /**
   * Returns SQL for rows in key order.
   *
   * @param found - a table and a condition.
   * @param size - the placeholder of the limit.
   */
  #sorted(found: string, size: string): string {
    const { dialect, table, model } = this
    const order = toOrderBy([{ column: model.key, direction: 'asc' }], dialect, table.name)
    const rows = !dialect.can.arrays
      ? found
      : // OFFSET 0 makes PostgreSQL plan the subquery separately. Otherwise it may read all rows of a tenant in key order.
        `(SELECT * FROM ${found} OFFSET 0) AS ${dialect.text.quote(table.name)}`
    return `${rows} ORDER BY ${order} LIMIT ${size}`
  }
}

const keyOf = ({ number, texts }: BehindPage): string => `kept ${number} ${texts?.number} ${texts?.isLast}`
