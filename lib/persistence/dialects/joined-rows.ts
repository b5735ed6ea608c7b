import type { ResourceModel } from '../../resource/resource-model.js'
import type { FilterNode, PlanColumn, RelatedRow } from '../query/query-plan.js'
import type { TableName } from './catalog/table-definition.js'
import { sameSql, storedSql } from './column-sql.js'
import type { Dialect } from './dialect.js'
import { quoteTable } from './quote-table.js'

/** The table of a resource. */
export type TableOf = (target: ResourceModel) => TableName

/** The rows that a statement reads beside one another, by what their columns are qualified with. */
export class RowNames {
  readonly #joined = new Map<RelatedRow, string>()

  /** @param own - what the columns of the plan's own row are qualified with. */
  constructor(
    readonly own: string,
    private readonly tableOf: TableOf,
    private readonly names = { count: 0 },
  ) {}

  /** The qualifier of a row's columns; undefined is the plan's own row. */
  of(row: RelatedRow | undefined): string {
    return row === undefined ? this.own : (this.#joined.get(row) as string)
  }

  /** Begins a plan inside of this one, about a row of its own. */
  inside(own = this.#next()): RowNames {
    return new RowNames(own, this.tableOf, this.names)
  }

  /**
   * The joins of what a plan names through relations, for behind FROM. A row that leads nowhere stays, with
   * NULL in its place.
   * @param write - the condition of a row, whose placeholders come next.
   */
  joins(
    rows: readonly RelatedRow[],
    dialect: Dialect,
    write: (node: FilterNode, names: RowNames) => string,
  ): string {
    let text = ''
    for (const row of rows) {
      const name = this.#next()
      this.#joined.set(row, name)
      const condition = isAll(row.where) ? '' : ` AND ${write(row.where, this.inside(name))}`
      text += ` LEFT JOIN ${this.table(row, name, dialect)} ON ${this.equalities(row, name, dialect)}${condition}`
    }
    return text
  }

  /** The table of a row, under a name. */
  table({ target }: RelatedRow, name: string, { text: { quote } }: Dialect): string {
    return `${quoteTable(this.tableOf(target), { text: { quote } })} AS ${quote(name)}`
  }

  /** The equal values of a row and the row that refers to it. */
  equalities({ from, pairs }: RelatedRow, name: string, dialect: Dialect): string {
    return pairs
      .map((pair) =>
        sameSql(
          [storedSql(pair.to, dialect, name), pair.to],
          [storedSql(pair.from, dialect, this.of(from)), pair.from],
          dialect,
        ),
      )
      .join(' AND ')
  }

  /** No table is called so. */
  #next(): string {
    return `(${++this.names.count})`
  }
}

/** True if the plan asks nothing. */
export const isAll = (node: FilterNode): boolean => node.kind === 'and' && node.nodes.length === 0

/** The rows of other resources that a plan reads. */
export interface Beside {
  /** Those that are joined, each behind the one that leads to it. */
  readonly joined: readonly RelatedRow[]
  /** True if there is anything, joined or not. */
  readonly isAny: boolean
}

/** The rows of other resources that these plans and columns read. */
export function besideOf(nodes: readonly (FilterNode | undefined)[], columns: readonly PlanColumn[]): Beside {
  const joined = new Set<RelatedRow>()
  let several = 0
  const add = (row: RelatedRow | undefined): void => {
    if (row === undefined || joined.has(row)) return
    add(row.from)
    joined.add(row)
  }
  const visit = (node: FilterNode): void => {
    if ('node' in node) {
      if (node.kind === 'not') return visit(node.node)
      several++
      return add(node.rows.from)
    }
    if ('nodes' in node) return node.nodes.forEach(visit)
    for (const { of } of 'columns' in node ? node.columns : [node.column]) add(of)
  }
  for (const node of nodes) if (node !== undefined) visit(node)
  for (const { of } of columns) add(of)
  return { joined: [...joined], isAny: several + joined.size > 0 }
}
