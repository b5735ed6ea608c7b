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

/** The inputs that the text of a search depends on. */
interface Shape {
  readonly by: Field
  /** The number of placeholders that stand for the values; or where the page before has kept them. */
  readonly values: { readonly bound: number } | { readonly kept: BehindPage }
  readonly isOwned: boolean
  /** In the order of the keys, up to a number of rows. */
  readonly isSorted: boolean
  /** As one text, where the engine can. */
  readonly isGathered: boolean
}

/** The place of a search behind a page in the same round trip. */
export interface BehindPage {
  /** Under which the page has kept the values. */
  readonly number: number
  /**
   * Set if the last statement returns the gathered texts of all: the number of this one's text, and whether
   * it is the last.
   */
  readonly texts: { readonly number: number; readonly isLast: boolean } | undefined
}

/** A statement, and whether its rows come as one text. */
interface Form {
  readonly statement: Statement
  readonly asText: boolean
}

/** A search that is sent. */
export interface Searching extends BoundStatement {
  /** The entities in the rows that it returns; undefined where they are too large for one text. */
  entitiesIn(rows: readonly Row[]): object[] | undefined
}

/**
 * Entities of rows of which something is known, so that it is not selected: that they are live, or whose they
 * are.
 */
export interface KnownHydrators<E> {
  /** In the order in which a statement selects them. */
  readonly selected: readonly Field[]
  readonly row: (row: Row, tenant: PartValue | undefined) => E
  /** @param columns - the values of all rows, by column. @param count - how many of the rows. */
  readonly columns: (
    columns: readonly (readonly unknown[])[],
    count: number,
    tenant: PartValue | undefined,
  ) => E[]
}

interface Reading extends KnownHydrators<object> {
  /** Undefined where the engine cannot gather these columns. */
  readonly gathered: GatheredSql | undefined
}

/**
 * The values of all rows, by column. @param text - what they were gathered in. @param count - of the columns.
 */
export function columnsIn(text: string, count: number): readonly (readonly unknown[])[] {
  const columns = JSON.parse(text) as (readonly unknown[] | null)[]
  // Without rows an engine has null in the place of each.
  return columns[0] === null ? Array<readonly unknown[]>(count).fill([]) : (columns as unknown[][])
}

/** The live rows of one resource that searches find, each by a statement whose text is made once. */
export class SearchedRows {
  readonly #owned: Reading
  readonly #any: Reading
  readonly #forms = new Map<string, Form>()

  /** @param hydrators - of live rows, of one tenant or of any. */
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
   * @param tenant - of the call, for a resource that belongs to one.
   * @param isGathered - whether the rows come as one text, where the engine can.
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

  /** True if the rows come as one text. */
  areGathered(tenant: string | undefined): boolean {
    return this.#reading(this.#isOwned(tenant)).gathered !== undefined
  }

  /** The same for the values that the page before has kept. */
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

  /** Binds: [tenant], the values, [how many rows]. */
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
    // The elements are hashed, or looked for in an index. With `= ANY(…)`, where a plan reads all rows of a
    // tenant, each row would be compared with each element.
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
    // The number of referring rows depends on the tenant.
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
   * In the order of the keys. @param found - a table, and a condition. @param size - how many.
   */
  #sorted(found: string, size: string): string {
    const { dialect, table, model } = this
    const order = toOrderBy([{ column: model.key, direction: 'asc' }], dialect, table.name)
    const rows = !dialect.can.arrays
      ? found
      : // OFFSET 0 plans the subquery separately. Otherwise PostgreSQL may read all of a tenant's rows by key.
        `(SELECT * FROM ${found} OFFSET 0) AS ${dialect.text.quote(table.name)}`
    return `${rows} ORDER BY ${order} LIMIT ${size}`
  }
}

const keyOf = ({ number, texts }: BehindPage): string => `kept ${number} ${texts?.number} ${texts?.isLast}`
