import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'
import { toOrderBy } from '../dialects/to-order-by.js'
import { padToPowerOfTwo } from '../dialects/values/pad-to-power-of-two.js'
import type { Row, Sent, Statement } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import type { RelationLoad } from './relation-loads.js'
import type { Search } from './search.js'

/** What the text of a search depends on. */
interface Shape {
  readonly by: Field
  /** How many placeholders stand for the values; or the number under which the page before has kept them. */
  readonly values: { readonly bound: number } | { readonly kept: number }
  readonly isOwned: boolean
  /** In the order of the keys, up to a number of rows. */
  readonly isSorted: boolean
}

/** The live rows of one resource that searches find, each by a statement whose text is made once. */
export class SearchedRows {
  /** The columns of the rows. Of a live row it is known that it has no time of its deletion. */
  readonly #fields: readonly Field[]
  /** All rows as one text, where the engine can. */
  readonly #gathered: string | undefined
  readonly #statements = new Map<string, Statement>()

  /** @param hydrate - reads a row of every field but the time of the deletion. */
  constructor(
    private readonly model: ResourceModel,
    private readonly dialect: Dialect,
    private readonly table: TableName,
    private readonly hydrate: (row: Row) => object,
  ) {
    this.#fields = model.entityFields.filter((field) => field !== model.deleteTime)
    this.#gathered = dialect.gathered(this.#fields)
  }

  /** @param tenant - of the call, for a resource that belongs to one. */
  searching({ relation, values, size }: Search, tenant: string | undefined): Sent {
    const sought: readonly unknown[] =
      this.dialect.arrayType === undefined ? padToPowerOfTwo(values) : [values]
    return this.#sent(relation.by, { bound: sought.length }, sought, tenant, size)
  }

  /** The same for the values that the page before has kept under a number. */
  behind(relation: RelationLoad, kept: number, tenant: string | undefined, size: number | undefined): Sent {
    return this.#sent(relation.by, { kept }, [], tenant, size)
  }

  #sent(
    by: Field,
    values: Shape['values'],
    sought: readonly unknown[],
    tenant: string | undefined,
    size: number | undefined,
  ): Sent {
    const isOwned = tenant !== undefined && this.model.tenant !== undefined
    const bound = isOwned ? [tenant, ...sought] : [...sought]
    if (size !== undefined) bound.push(size + 1)
    const shape = { by, values, isOwned, isSorted: size !== undefined }
    return { statement: this.#statement(shape), values: bound }
  }

  /** The entities of the rows that such a statement has read. */
  entitiesOf(rows: readonly Row[]): object[] {
    if (this.#gathered === undefined) return rows.map(this.hydrate)
    const text = rows[0]?.[0]
    return typeof text === 'string' ? (JSON.parse(text) as Row[]).map(this.hydrate) : []
  }

  #statement(shape: Shape): Statement {
    const { by, values, isOwned, isSorted } = shape
    const sought = 'kept' in values ? `kept ${values.kept}` : values.bound
    const key = `${by.column} ${sought} ${isOwned} ${isSorted}`
    let statement = this.#statements.get(key)
    if (statement === undefined) this.#statements.set(key, (statement = named(this.#text(shape))))
    return statement
  }

  /** Binds: [tenant], the values, [how many rows]. */
  #text({ by, values, isOwned, isSorted }: Shape): string {
    const { dialect, model, table } = this
    const { tenant, deleteTime, key } = model
    let bound = 0
    const column = (field: Field) => dialect.quote(field.column)
    const bind = (field: Field) => dialect.placeholder(field, ++bound)
    const conditions: string[] = []
    if (isOwned && tenant !== undefined) conditions.push(`${column(tenant)} = ${bind(tenant)}`)
    if ('kept' in values) conditions.push(`${column(by)} = ANY(${dialect.handOver?.kept(values.kept)})`)
    else if (dialect.arrayType !== undefined)
      conditions.push(
        `${column(by)} = ANY(${dialect.countPlaceholder(++bound)}::${dialect.arrayType(by.kind)})`,
      )
    else
      conditions.push(`${column(by)} IN (${Array.from({ length: values.bound }, () => bind(by)).join(', ')})`)
    if (deleteTime !== undefined) conditions.push(`${column(deleteTime)} IS NULL`)
    const order = toOrderBy([{ column: key, direction: 'asc' }], dialect, table.name)
    const tail = isSorted ? ` ORDER BY ${order} LIMIT ${dialect.countPlaceholder(++bound)}` : ''
    const from = `FROM ${quoteTable(table, dialect)} WHERE ${conditions.join(' AND ')}${tail}`
    if (this.#gathered === undefined) return `SELECT ${this.#columns} ${from}`
    return isSorted
      ? `SELECT ${this.#gathered} FROM (SELECT ${this.#fields.map(column).join(', ')} ${from}) AS ${dialect.quote(table.name)}`
      : `SELECT ${this.#gathered} ${from}`
  }

  get #columns(): string {
    const { dialect } = this
    return this.#fields
      .map(({ kind, column }) => dialect.selected(kind, dialect.quote(column), dialect.quote(column)))
      .join(', ')
  }
}
