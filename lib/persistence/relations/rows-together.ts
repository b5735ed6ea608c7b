import type { Scope } from '../contract/scope.js'
import type { Dialect } from '../dialects/dialect.js'
import type { HandOver } from '../dialects/values/hand-over.js'
import type {
  Database,
  Executor,
  Result,
  Row,
  RunOptions,
  Sent,
  Statement,
} from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { MAX_LOADED } from './load-related.js'
import { type Asked, RelatedRows, type RelatedTable } from './related-rows.js'
import { type LoadTree, type RelationLoad, spans } from './relation-loads.js'
import type { SearchedRows } from './searched-rows.js'

/** Where an operation sends its statements. */
export interface SqlReading {
  readonly on: Executor
  readonly run: RunOptions
}

/** The rows of a resource, which searches find without a list. */
export interface SearchedTable extends RelatedTable<SqlReading> {
  readonly rows: SearchedRows
}

/** Reads relations by statements that are sent together, with the page before them where the engine lets it hand its values on. */
export class RowsTogether extends RelatedRows<SqlReading, SearchedTable> {
  readonly #keeping = new WeakMap<Statement, Map<string, Statement>>()

  constructor(
    private readonly database: Database,
    ...parts: ConstructorParameters<typeof RelatedRows<SqlReading, SearchedTable>>
  ) {
    super(...parts)
  }

  /**
   * Where a list sends its statement: with it go those of the relations of these paths, of which `read` takes the rows.
   * @throws as `read` does.
   */
  pageOn(on: Executor, paths: readonly string[], scope: Scope): Executor {
    const { database } = this
    const { handOver } = database.dialect
    const runAll = database.runAll?.bind(database)
    if (on !== database || runAll === undefined || handOver === undefined) return on
    const trees = this.trees(paths, scope)
    if (trees.length === 0 || trees.some((tree) => spans(tree, scope.tenant))) return on
    const searches = new Map<RelationLoad, Sent>()
    for (const [number, tree] of trees.entries()) {
      const { table, tenant } = this.reached(tree, scope)
      const size = tree.by === tree.target.key ? undefined : MAX_LOADED
      searches.set(tree, table.rows.behind(tree, number, tenant, size))
    }
    return new PageExecutor(database, runAll, searches, (page) => this.#keepingOf(page, trees, handOver))
  }

  protected override async find(
    { on, run }: SqlReading,
    asked: readonly Asked<SearchedTable>[],
  ): Promise<readonly (readonly object[])[]> {
    if (!(on instanceof PageExecutor)) return this.#search(on, run, asked)
    const found = asked.map(({ table, search }) => {
      const rows = on.rowsOf(search.relation)
      const entities = rows && table.rows.entitiesOf(rows)
      // The page may have a row more than it shows: of too many resources, those that are missing may be of use.
      return entities !== undefined && entities.length <= MAX_LOADED ? entities : undefined
    })
    const missing = asked.filter((_, i) => found[i] === undefined)
    if (missing.length === 0) return found as object[][]
    const rest = (await this.#search(on.database, run, missing)).values()
    return found.map((entities) => entities ?? (rest.next().value as readonly object[]))
  }

  async #search(
    on: Executor,
    run: RunOptions,
    asked: readonly Asked<SearchedTable>[],
  ): Promise<readonly (readonly object[])[]> {
    if (asked.some(({ search }) => search.tenants !== undefined)) return super.find({ on, run }, asked)
    const reads = asked.map(({ table, search, tenant }) => table.rows.searching(search, tenant))
    const together = on === this.database && reads.length > 1 ? this.database.runAll?.(reads, run) : undefined
    const results = await (together ??
      Promise.all(reads.map(({ statement, values }) => on.run(statement, values, run))))
    return asked.map(({ table }, i) => table.rows.entitiesOf(results[i]?.rows ?? []))
  }

  /** The statement of a page that hands on what its rows say of these relations. */
  #keepingOf(page: Statement, trees: readonly LoadTree[], { keeping }: HandOver): Statement {
    const columns = trees.map(({ from }) => from.column)
    const key = columns.join('\0')
    let statements = this.#keeping.get(page)
    if (statements === undefined) this.#keeping.set(page, (statements = new Map<string, Statement>()))
    let statement = statements.get(key)
    if (statement === undefined) statements.set(key, (statement = named(keeping(page.text, columns))))
    return statement
  }
}

/** Sends the statement of a page, and behind it in the same round trip those of the relations of its rows. */
class PageExecutor implements Executor {
  readonly dialect: Dialect
  readonly #found = new Map<RelationLoad, readonly Row[]>()

  /** @param keeping - the statement that hands on what the searches use. */
  constructor(
    readonly database: Database,
    private readonly runAll: NonNullable<Database['runAll']>,
    private readonly searches: ReadonlyMap<RelationLoad, Sent>,
    private readonly keeping: (page: Statement) => Statement,
  ) {
    this.dialect = database.dialect
  }

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const page = { statement: this.keeping(statement), values }
    const [result, ...found] = await this.runAll([page, ...this.searches.values()], options)
    for (const [i, relation] of [...this.searches.keys()].entries())
      this.#found.set(relation, found[i]?.rows ?? [])
    return result as Result
  }

  /** Undefined for what was not read with the page. */
  rowsOf(relation: RelationLoad): readonly Row[] | undefined {
    return this.#found.get(relation)
  }
}
