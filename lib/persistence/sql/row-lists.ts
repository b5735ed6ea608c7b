import type { FieldKind } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CountPlan, FilterPlan, ListPlan } from '../contract/list-plan.js'
import type { Page } from '../contract/repository.js'
import type { LockClause } from '../contract/row-lock.js'
import { checkCursor } from '../dialects/check-cursor.js'
import { columnSql } from '../dialects/column-sql.js'
import type { Dialect } from '../dialects/dialect.js'
import { besideOf, RowNames, type TableOf } from '../dialects/joined-rows.js'
import { quoteTable } from '../dialects/quote-table.js'
import { searchPredicate } from '../dialects/search-predicate.js'
import { toOrderBy } from '../dialects/to-order-by.js'
import { toJoins, toPredicate } from '../dialects/to-predicate.js'
import { explainMissingVector } from '../engines/errors/explain-missing-vector.js'
import type { Executor, Row, RunOptions } from '../engines/executor/executor.js'
import { keysetPredicate } from '../query/keyset.js'
import { equals, type FilterNode, isNull, type PlanColumn } from '../query/plan.js'
import { type Hydrate, sortValuesOf } from './row-codec.js'
import type { Statements } from './statements.js'

/** What a list or a count reads, as text. */
export interface ListSource {
  /** What follows FROM, with the WHERE. */
  readonly from: string
  /** What follows ORDER BY; empty for a count. */
  readonly order: string
  /** Undefined where the statement reads the rows of its own table alone. */
  readonly related: RelatedColumns | undefined
}

/** What a statement that reads several rows beside one another says of its columns. */
interface RelatedColumns {
  /** What qualifies those of the own row. */
  readonly own: string
  /** Those of other rows by which the list is ordered, for behind the own columns. */
  readonly sorted: readonly string[]
}

/** Reads lists and counts of the rows of one resource, and of what is beside them. */
export class RowLists<E extends object> {
  constructor(
    private readonly model: ResourceModel<E>,
    private readonly dialect: Dialect,
    private readonly statements: Statements,
    private readonly hydrate: Hydrate<E>,
    private readonly tableOf: TableOf,
  ) {}

  /** A page that locks reads no extra row to find out whether more follow, because that row would be locked too. */
  async list(
    on: Executor,
    plan: ListPlan,
    tenant: string | undefined,
    run: RunOptions,
    lock?: LockClause,
  ): Promise<Page<E>> {
    checkCursor(plan.cursor, plan.terms, this.dialect)
    const params: unknown[] = []
    const count = (value: number) => this.dialect.countPlaceholder(params.push(value))
    const source = this.#source(plan, tenant, params)
    const asked = lock === undefined ? plan.size + 1 : plan.size
    const offset = plan.cursor?.kind === 'offset' ? plan.cursor.offset : 0
    const tail = ` ORDER BY ${source.order} LIMIT ${count(asked)}${offset > 0 ? ` OFFSET ${count(offset)}` : ''}`
    const rows = await this.#read(on, listText(this.statements, source, tail, lock), params, run)
    const page = rows.slice(0, plan.size)
    const items = page.map((row) => this.hydrate(row))
    const last = items.at(-1)
    const more = last !== undefined && rows.length === asked
    return {
      items,
      nextPageToken: more
        ? plan.nextPageToken(
            sortValuesOf(this.model, this.dialect, plan.terms, last, page[page.length - 1] as Row),
          )
        : '',
    }
  }

  /** Counting stops at the limit of the plan. */
  async count(
    on: Executor,
    { limit, ...plan }: CountPlan,
    tenant: string | undefined,
    run: RunOptions,
  ): Promise<number> {
    const params: unknown[] = []
    const { from } = this.#source(plan, tenant, params)
    const text =
      limit === undefined
        ? `SELECT COUNT(*) AS n FROM ${from}`
        : `SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM ${from} LIMIT ${this.dialect.countPlaceholder(params.push(limit))}) AS counted`
    const [row] = await this.#read(on, text, params, run)
    return Number(row?.[0])
  }

  async #read(on: Executor, text: string, params: unknown[], run: RunOptions): Promise<readonly Row[]> {
    const { rows } = await on.run(this.statements.written(text), params, run).catch((error) => {
      throw explainMissingVector(error, this.model.type)
    })
    return rows
  }

  /** Appends its values to `params`. @param plan - of a list, or of a count, which has no order. */
  #source(
    plan: FilterPlan & Partial<Pick<ListPlan, 'terms' | 'cursor'>>,
    tenant: string | undefined,
    params: unknown[],
  ): ListSource {
    const { model, dialect } = this
    const { table } = this.statements
    const { terms = [], cursor } = plan
    const after = cursor?.kind === 'keyset' ? keysetPredicate(terms, cursor.values) : undefined
    const columns = terms.map(({ column }) => column)
    const beside = besideOf([plan.filter], columns)
    const names = beside.isAny ? new RowNames(table.name, this.tableOf) : undefined
    const search = this.#search(plan.search, names !== undefined, params)
    const joins = names === undefined ? '' : toJoins(beside.joined, dialect, params, names)
    const conditions: string[] = []
    const ask = (node: FilterNode | undefined) => {
      if (node !== undefined) conditions.push(toPredicate(node, dialect, params, names))
    }
    if (tenant !== undefined && model.tenant !== undefined) ask(equals(model.tenant, tenant))
    if (model.deleteTime !== undefined && !plan.showDeleted) ask(isNull(model.deleteTime))
    ask(plan.filter)
    if (search.condition !== undefined) conditions.push(search.condition(params))
    ask(after)
    return {
      from: `${search.table}${joins}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`,
      order: toOrderBy(terms, dialect, names ?? table.name),
      related: names && { own: `${dialect.quote(table.name)}.`, sorted: sortedBy(columns, names, dialect) },
    }
  }

  /**
   * The table, and the condition of a search. Other rows have columns of the same names, and what a search says of its own may be
   * a text of the application: it is asked inside of the table then.
   */
  #search(
    term: string,
    isInside: boolean,
    params: unknown[],
  ): { readonly table: string; readonly condition?: (params: unknown[]) => string } {
    const { dialect, statements } = this
    const { search, type } = this.model
    const table = quoteTable(statements.table, dialect)
    if (search === undefined || term === '') return { table }
    const condition = (values: unknown[]) => searchPredicate(search, type, term, dialect, values)
    if (!isInside) return { table, condition }
    const name = dialect.quote(statements.table.name)
    return { table: `(SELECT * FROM ${table} WHERE ${condition(params)}) AS ${name}` }
  }
}

/** A page of rows. @param tail - ORDER BY, LIMIT and OFFSET. */
export const listText = (
  statements: Statements,
  { from, related }: Pick<ListSource, 'from' | 'related'>,
  tail: string,
  lock?: LockClause,
): string => {
  const columns = [statements.columns(related?.own), ...(related?.sorted ?? [])].join(', ')
  return `SELECT ${columns} FROM ${from}${tail}${lock === undefined ? '' : statements.dialect.rowLock(lock)}`
}

/** As an entity's own columns are selected, each under a name that no other column has. */
const sortedBy = (columns: readonly PlanColumn[], names: RowNames, dialect: Dialect): string[] =>
  columns
    .filter(({ of }) => of !== undefined)
    .map((column, i) => {
      const text = columnSql(column, dialect, names.of(column.of))
      const name = dialect.quote(`(sorted ${i})`)
      const selected = dialect.selected(column.kind as FieldKind, text, name)
      return selected === text ? `${text} AS ${name}` : selected
    })
