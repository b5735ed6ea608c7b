import type { Scope } from '../contract/scope.js'
import type { Dialect } from '../dialects/dialect.js'
import type { KeptOfPage } from '../dialects/values/hand-over.js'
import type { Database, Executor, Result, Row, RunOptions, Statement } from '../engines/executor/executor.js'
import type { SqlCall } from '../rows/row-call.js'
import { MAX_LOADED } from './load-related.js'
import { type Asked, RelatedRows, type RelatedTable } from './related-rows.js'
import { type RelationLoad, spans } from './relation-loads.js'
import type { Searching, SearchedRows } from './searched-rows.js'

/** The rows of a resource that searches can find without a list. */
export interface SearchedTable extends RelatedTable<SqlCall> {
  readonly rows: SearchedRows
}

/** Runs the statement of a list. */
export interface PageReading {
  readonly call: SqlCall
  readonly kept: KeptOfPage | undefined
}

/**
 * The maximum number of strings in one row. A PostgreSQL row is limited to 1 GiB, and a string of 10,001 rows
 * has about 120 MiB at most, because JSON may write a character as six.
 */
const MAX_TEXTS = 8

/**
 * Reads relations with statements that are sent together. If the engine can pass values between statements,
 * they are sent in one round trip with the page.
 */
export class RowsTogether extends RelatedRows<SqlCall, SearchedTable> {
  constructor(
    private readonly database: Database,
    ...parts: ConstructorParameters<typeof RelatedRows<SqlCall, SearchedTable>>
  ) {
    super(...parts)
  }

  /**
   * Returns how to run the statement of a list together with the statements of its relations. `read` then
   * uses their rows.
   *
   * @throws the errors of `read`.
   */
  pageOn(call: SqlCall, paths: readonly string[], scope: Scope): PageReading {
    const { database } = this
    const runAll = database.runAll?.bind(database)
    const alone = { call, kept: undefined }
    if (call.on !== database || runAll === undefined || database.dialect.values.handOver === undefined)
      return alone
    // The values of a page are stored in a setting of one server, so other servers cannot read them.
    if (database.isDistributed !== false) return alone
    const trees = this.trees(paths, scope)
    if (trees.length === 0 || trees.some((tree) => spans(tree, scope.tenant))) return alone
    // The page does not select the tenant, because the call determines it.
    if (scope.tenant !== undefined && trees.some(({ from, source }) => from === source.tenant)) return alone
    const asked = trees.map((relation) => ({ relation, ...this.reached(relation, scope) }))
    const text =
      asked.length < MAX_TEXTS && asked.every(({ table, tenant }) => table.rows.areGathered(tenant))
    const searches = asked.map(({ relation, table, tenant }, number): [RelationLoad, Searching] => {
      const size = relation.by === relation.target.key ? undefined : MAX_LOADED
      // The page's own string has the number 0.
      const texts = text ? { number: number + 1, isLast: number === trees.length - 1 } : undefined
      return [relation, table.rows.behind(relation, { number, texts }, tenant, size)]
    })
    return {
      call: { ...call, on: new PageExecutor(database, runAll, new Map(searches), text) },
      kept: { columns: trees.map(({ from }) => from), text },
    }
  }

  protected override async find(
    call: SqlCall,
    asked: readonly Asked<SearchedTable>[],
  ): Promise<readonly (readonly object[])[]> {
    const { on } = call
    if (!(on instanceof PageExecutor)) return this.#search(call, asked)
    const behind = { ...call, on: on.database }
    // These are relations of relations, which the page's round trip did not read.
    if (!asked.every(({ search }) => on.hasRead(search.relation))) return this.#search(behind, asked)
    const found = asked.map(({ search }) => {
      const entities = on.entitiesOf(search.relation)
      // The page may have read one row more than it returns. If that exceeds the limit, search again for the
      // remaining entities.
      return entities !== undefined && entities.length <= MAX_LOADED ? entities : undefined
    })
    return filled(found, asked, (missing) => this.#rowByRow(behind, missing))
  }

  async #search(
    call: SqlCall,
    asked: readonly Asked<SearchedTable>[],
  ): Promise<readonly (readonly object[])[]> {
    if (asked.some(({ search }) => search.tenants !== undefined)) return super.find(call, asked)
    const found = await this.#sent(call, asked)
    return filled(found, asked, (missing) => this.#rowByRow(call, missing))
  }

  async #rowByRow(
    call: SqlCall,
    asked: readonly Asked<SearchedTable>[],
  ): Promise<readonly (readonly object[])[]> {
    const found = await this.#sent(call, asked, false)
    return found.map((entities) => entities ?? [])
  }

  async #sent(
    call: SqlCall,
    asked: readonly Asked<SearchedTable>[],
    isGathered?: boolean,
  ): Promise<readonly (readonly object[] | undefined)[]> {
    const reads = asked.map(({ table, search, tenant }) => table.rows.searching(search, tenant, isGathered))
    const { on } = call
    const together =
      on === this.database && reads.length > 1 ? this.database.runAll?.(reads, call) : undefined
    const results = await (together ??
      Promise.all(reads.map(({ statement, values }) => on.run(statement, values, call))))
    return reads.map((read, i) => read.entitiesIn(results[i]?.rows ?? []))
  }
}

/** Adds the results of another search for the missing rows. */
async function filled<A>(
  found: readonly (readonly object[] | undefined)[],
  asked: readonly A[],
  find: (missing: readonly A[]) => Promise<readonly (readonly object[])[]>,
): Promise<readonly (readonly object[])[]> {
  const missing = asked.filter((_, i) => found[i] === undefined)
  if (missing.length === 0) return found as readonly object[][]
  const rest = (await find(missing)).values()
  return found.map((entities) => entities ?? (rest.next().value as readonly object[]))
}

/** Sends the statement of a page and the statements of its relations in one round trip. */
class PageExecutor implements Executor {
  readonly dialect: Dialect
  readonly endsReads = true
  readonly #found = new Map<RelationLoad, readonly Row[]>()

  /**
   * @param hasTexts - true if the last statement returns the combined strings of the others.
   */
  constructor(
    readonly database: Database,
    private readonly runAll: NonNullable<Database['runAll']>,
    private readonly searches: ReadonlyMap<RelationLoad, Searching>,
    private readonly hasTexts: boolean,
  ) {
    this.dialect = database.dialect
  }

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const results = await this.runAll([{ statement, values }, ...this.searches.values()], options)
    const [page, ...found] = this.hasTexts ? dealt(results) : results
    for (const [i, relation] of [...this.searches.keys()].entries())
      this.#found.set(relation, found[i]?.rows ?? [])
    return page as Result
  }

  hasRead(relation: RelationLoad): boolean {
    return this.#found.has(relation)
  }

  /** Returns undefined if the rows are too large for one string. */
  entitiesOf(relation: RelationLoad): readonly object[] | undefined {
    const rows = this.#found.get(relation)
    return rows && this.searches.get(relation)?.entitiesIn(rows)
  }
}

/**
 * Assigns to each result the string that the last statement returned for it. A result without one has no
 * rows, or its own rows if the page was not combined.
 */
function dealt(results: readonly Result[]): readonly Result[] {
  const [own, ...texts] = results.at(-1)?.rows[0] ?? []
  return results.map((result, i) => {
    if (i === results.length - 1) return { rows: [[own]], affected: 1 }
    return texts[i] === null || texts[i] === '' ? result : { rows: [[texts[i]]], affected: 1 }
  })
}
