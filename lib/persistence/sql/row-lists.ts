import type { Field } from '../../resource/fields/field.js'
import { keyPartOf, type PartValue } from '../../resource/keys/key-part.js'
import type { CredentialField, ResourceModel } from '../../resource/resource-model.js'
import { SpecsInUse } from '../../secrets/specs-in-use.js'
import { fittingElements } from '../bytes/counted-bytes.js'
import { pageWithin } from '../bytes/page-within.js'
import { bytesText, rowBytes } from '../bytes/row-bytes.js'
import type { CountPlan, FilterPlan, ListPlan } from '../contract/list-plan.js'
import type { Page } from '../contract/repository.js'
import { checkCursor } from '../dialects/check-cursor.js'
import { checkFilter } from './check-filter.js'
import type { Dialect } from '../dialects/dialect.js'
import { besideOf, RowNames, type TableOf } from '../dialects/joined-rows.js'
import { quoteTable } from '../dialects/quote-table.js'
import { orderedSearch, searchPredicate } from '../dialects/search-predicate.js'
import { toOrderBy } from '../dialects/to-order-by.js'
import { type GatheredSql, PAGE } from '../dialects/values/gathered.js'
import { toJoins, toPredicate } from '../dialects/to-predicate.js'
import { explainMissingVector } from '../engines/errors/explain-missing-vector.js'
import type { Executor, Row, Statement } from '../engines/executor/executor.js'
import { keysetPredicate } from '../query/keyset.js'
import { type FilterNode, isNotNull, isNull } from '../query/query-plan.js'
import { hasPart } from '../query/reachable.js'
import { columnsIn, type KnownHydrators } from '../relations/searched-rows.js'
import type { PageOptions } from '../repository/rows-backend.js'
import type { SqlCall } from '../rows/row-call.js'
import { knownHydratorsOf, sortValuesOf } from './row-codec.js'
import { type ListSource, listText, sortedBy } from './statements/list-text.js'
import { listedRows } from './statements/listed-rows.js'
import type { Statements } from './statements/statements.js'

/** The rows of a page, and how many were read. */
interface PageRows<E> {
  /** The entities of the page. */
  readonly items: E[]
  /** The number of rows that were read. If it exceeds the number of items, another page follows. */
  readonly read: number
  /** Returns a field of the last item as its row stores it. */
  readonly stored: (field: Field) => unknown
  /** The values of joined rows for the last item. */
  readonly joined: readonly unknown[]
  /** True if the page was shortened because its rows exceed the byte limit. */
  readonly isCut?: boolean
  /** At least the number of characters of the JSON fields, as they arrived. Undefined if it is not known. */
  readonly characters?: number | undefined
}

interface GatheredReading<E> extends KnownHydrators<E> {
  /** The positions of JSON fields among the selected columns. */
  readonly nested: readonly number[]
  /** The SQL that combines a page's rows into one string. Undefined if it is read row by row. */
  readonly alone: GatheredSql | undefined
  readonly withRelations: GatheredSql | undefined
}

/** Reads lists and counts of one resource. */
export class RowLists<E extends object> {
  readonly #readings = new Map<string, GatheredReading<E>>()
  readonly #specs = new Map<Field, SpecsInUse>()

  constructor(
    private readonly model: ResourceModel<E>,
    private readonly dialect: Dialect,
    private readonly statements: Statements,
    private readonly tableOf: TableOf,
  ) {}

  /**
   * Returns a page. A page with locks reads no extra row to find out whether more follow, because it would
   * lock that row, too.
   */
  async list(
    call: SqlCall,
    plan: ListPlan,
    tenant: string | undefined,
    options: PageOptions = {},
  ): Promise<Page<E>> {
    checkCursor(plan.cursor, plan.terms, this.dialect)
    checkFilter(plan.given, this.dialect)
    const params: unknown[] = []
    const count = (value: number) => this.dialect.values.countPlaceholder(params.push(value))
    const whole = this.#source(plan, tenant, params)
    const asked = options.lock === undefined ? plan.size + 1 : plan.size
    const offset = plan.cursor?.kind === 'offset' ? plan.cursor.offset : 0
    const limitAt = params.length
    const limit = count(asked)
    const isOrdered = whole.searched !== undefined && options.lock === undefined && offset === 0
    const source = isOrdered ? { ...whole, from: orderedSearch(whole.searched, limit, this.dialect) } : whole
    const tail = ` ORDER BY ${source.order} LIMIT ${limit}${offset > 0 ? ` OFFSET ${count(offset)}` : ''}`
    const valuesOf = (size: number) => (size === asked ? params : params.with(limitAt, size))
    const read = (size: number, maxBytes?: number): Promise<PageRows<E>> => {
      const values = valuesOf(size)
      const on = maxBytes === undefined ? call : { ...call, maxBytes }
      const send = (statement: Statement) => this.#read(on, statement, values)
      const rows = () => this.#rows(send, source, tail, plan, tenant, options)
      const gathered = this.#gathered(send, source, tail, plan, tenant, { ...options, maxBytes })
      return gathered === undefined ? rows() : gathered.then((page) => page ?? rows())
    }
    const measure = (size: number, isTotal: boolean) => {
      const bytes = rowBytes(this.model, this.dialect, source.related?.own)
      const text = bytesText(bytes, source.from + tail, isTotal, this.dialect)
      return this.#read(call, this.statements.ofList(text), valuesOf(size))
    }
    const { maxBytes } = options
    let page: PageRows<E>
    if (maxBytes === undefined) page = await read(asked)
    else {
      page = await pageWithin(maxBytes, call.on, asked, read, measure)
      const fitting = fittingElements(this.model, page.items, maxBytes, page.characters)
      // The token needs the values of the page's last row, so a shorter page is read again.
      if (fitting < page.items.length) page = { ...(await read(fitting)), isCut: true }
    }
    const { items, stored, joined } = page
    const last = items.at(-1)
    const more = last !== undefined && (page.isCut === true || page.read === asked)
    return {
      items,
      nextPageToken: more
        ? plan.nextPageToken(
            sortValuesOf(this.model, this.dialect, plan.terms, last, stored, joined),
            items.length,
          )
        : '',
    }
  }

  async #rows(
    send: (statement: Statement) => Promise<readonly Row[]>,
    source: ListSource,
    tail: string,
    plan: ListPlan,
    tenant: string | undefined,
    { lock, kept, maxBytes }: PageOptions,
  ): Promise<PageRows<E>> {
    const { dialect } = this
    const { size, showDeleted } = plan
    const { selected, nested, row: hydrate } = this.#reading(!showDeleted, tenant !== undefined)
    const text = listText(this.statements, source, selected, tail, lock)
    const keeping =
      kept && dialect.values.handOver?.keeping(kept.columns.map(({ column }) => dialect.text.quote(column)))
    const rows = await send(
      this.statements.ofList(
        keeping === undefined
          ? text
          : `WITH ${dialect.text.quote(PAGE)} AS MATERIALIZED (${text}) SELECT * FROM ${dialect.text.quote(PAGE)} WHERE ${keeping}`,
        () => listedRows(this.statements, plan, tenant),
      ),
    )
    const page = rows.length > size ? rows.slice(0, size) : rows
    const last = page.at(-1) ?? []
    const owner = this.#ownerOf(tenant)
    return {
      items: page.map((row) => hydrate(row, owner)),
      read: rows.length,
      characters: maxBytes === undefined ? undefined : charactersIn(page, nested),
      stored: (field) => last[selected.indexOf(field)] ?? null,
      joined: last.slice(selected.length),
    }
  }

  /** Reads a page as one combined string. Returns undefined if this is not possible or not faster. */
  #gathered(
    send: (statement: Statement) => Promise<readonly Row[]>,
    { from, related }: ListSource,
    tail: string,
    plan: ListPlan,
    tenant: string | undefined,
    { kept, lock, maxBytes }: PageOptions,
  ): Promise<PageRows<E> | undefined> | undefined {
    const { dialect } = this
    const { size, showDeleted } = plan
    if (lock !== undefined || (related?.sorted.length ?? 0) > 0) return undefined
    const reading = this.#reading(!showDeleted, tenant !== undefined, maxBytes)
    const { selected, columns } = reading
    const gathered = kept === undefined ? reading.alone : reading.withRelations
    if (gathered === undefined) return undefined
    const shape = [
      maxBytes,
      !showDeleted,
      tenant !== undefined,
      related?.own,
      kept?.text,
      kept?.columns.map(({ column }) => column),
    ]
    const written = () => {
      const { before, after, names } = gathered
      const own = selected.map(({ column }) => (related?.own ?? '') + dialect.text.quote(column)).join(', ')
      const keptNames = kept?.columns.map((field) => names[selected.indexOf(field)] as string)
      const keeping = keptNames && dialect.values.handOver?.keeping(keptNames)
      const condition = keeping === undefined ? '' : ` WHERE ${keeping}`
      const text = `${before}SELECT ${own} FROM ${from}${tail}${after}${condition}`
      return kept?.text === true ? (dialect.values.handOver?.keepingText(0, text) ?? text) : text
    }
    const statement = this.statements.ofPage(`${shape.join(' ')}${from}${tail}`, written, () =>
      listedRows(this.statements, plan, tenant),
    )
    return send(statement).then(([row]) => {
      if (typeof row?.[0] !== 'string') return undefined
      const values = columnsIn(row[0], selected.length)
      const read = values[0]?.length ?? 0
      const count = Math.min(read, size)
      return {
        items: columns(values, count, this.#ownerOf(tenant)),
        read,
        characters: row[0].length,
        stored: (field) => values[selected.indexOf(field)]?.[count - 1] ?? null,
        joined: [],
      }
    })
  }

  /** Returns the tenant's value in entities. */
  #ownerOf(text: string | undefined): PartValue | undefined {
    const { tenant } = this.model
    return text === undefined || tenant === undefined ? undefined : keyPartOf(tenant).valueOf(text)
  }

  #reading(isLive: boolean, isOwned: boolean, maxBytes?: number): GatheredReading<E> {
    const key = `${isLive} ${isOwned} ${maxBytes}`
    let reading = this.#readings.get(key)
    if (reading === undefined) {
      const known = knownHydratorsOf(this.model, this.dialect, isLive, isOwned)
      const gathered = this.dialect.values.gathered?.(known.selected, maxBytes)
      const where = (isAlone: boolean) =>
        this.dialect.values.gathersPage(known.selected, isAlone) ? gathered : undefined
      const nested = known.selected.flatMap(({ json }, at) => (json === undefined ? [] : [at]))
      reading = { ...known, nested, alone: where(true), withRelations: where(false) }
      this.#readings.set(key, reading)
    }
    return reading
  }

  /** Counts rows up to the plan's limit. */
  async count(call: SqlCall, { limit, ...plan }: CountPlan, tenant: string | undefined): Promise<number> {
    checkFilter(plan.given, this.dialect)
    const params: unknown[] = []
    const { from } = this.#source(plan, tenant, params)
    const text =
      limit === undefined
        ? `SELECT COUNT(*) AS n FROM ${from}`
        : `SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM ${from} LIMIT ${this.dialect.values.countPlaceholder(params.push(limit))}) AS counted`
    const [row] = await this.#read(call, this.statements.ofList(text), params)
    return Number(row?.[0])
  }

  /**
   * Returns the hash parameters of a credential field, of all tenants.
   *
   * @param pool - the executor. It must not be the caller's transaction, because several calls share the
   *   result.
   */
  specsOf({ hashspec }: CredentialField, pool: Executor): SpecsInUse {
    let specs = this.#specs.get(hashspec)
    if (specs === undefined) {
      const { from } = this.#source({ filter: undefined, search: '', showDeleted: false }, undefined, [])
      const statement = this.statements.written(
        `SELECT DISTINCT ${this.statements.columns([hashspec])} FROM ${from}`,
      )
      specs = new SpecsInUse(async (signal) =>
        (await pool.run(statement, [], { signal })).rows.map(([algo]) => algo),
      )
      this.#specs.set(hashspec, specs)
    }
    return specs
  }

  #read(call: SqlCall, statement: Statement, params: unknown[]): Promise<readonly Row[]> {
    return call.on.run(statement, params, call).then(
      ({ rows }) => rows,
      (error) => {
        throw explainMissingVector(error, this.model.type)
      },
    )
  }

  /**
   * Returns the FROM and WHERE clauses of a list or count, and appends their values to `params`.
   *
   * @param plan - the plan. A count has no order.
   */
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
    if (model.tenant !== undefined)
      if (tenant !== undefined) ask(hasPart(model.tenant, tenant))
      else if (model.existing) ask(isNotNull(model.tenant))
    if (model.deleteTime !== undefined && !plan.showDeleted) ask(isNull(model.deleteTime))
    ask(plan.filter)
    const asked = search.condition?.(params)
    const rest = conditions.length
    ask(after)
    const ordered = this.#isOrderedSearch(terms, tenant) &&
      names === undefined &&
      asked !== undefined && {
        ...{ table: search.table, name: dialect.text.quote(table.name), search: asked },
        rest: conditions.join(' AND '),
      }
    if (asked !== undefined) conditions.splice(rest, 0, asked)
    const order = toOrderBy(terms, dialect, names ?? table.name)
    return {
      from: `${search.table}${joins}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`,
      order,
      searched: ordered === false ? undefined : { ...ordered, order },
      related: names && {
        own: `${dialect.text.quote(table.name)}.`,
        sorted: sortedBy(columns, names, dialect),
      },
    }
  }

  /** Returns true if one index provides the tenant's rows in this order, while the search uses another. */
  #isOrderedSearch(terms: ListPlan['terms'], tenant: string | undefined): boolean {
    const { key, search, tenantInKey } = this.model
    const [term] = terms
    const isByKey = terms.length === 1 && term?.column.column === key.column && term.direction === 'asc'
    const isIndexed = search?.strategy === 'INDEXED' && this.dialect.can.fullText
    return isByKey && isIndexed && tenantInKey && tenant !== undefined
  }

  /**
   * Returns the table with the condition of a search. If the statement joins other tables, the condition is
   * applied in a subquery, because the application may have written it with unqualified columns.
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
    const name = dialect.text.quote(statements.table.name)
    return { table: `(SELECT * FROM ${table} WHERE ${condition(params)}) AS ${name}` }
  }
}

/** Returns the number of characters at some positions of the rows; undefined if a value is not a string. */
function charactersIn(rows: readonly Row[], positions: readonly number[]): number | undefined {
  let sum = 0
  for (const row of rows)
    for (const at of positions) {
      const value = row[at] ?? ''
      if (typeof value !== 'string') return undefined
      sum += value.length
    }
  return sum
}
