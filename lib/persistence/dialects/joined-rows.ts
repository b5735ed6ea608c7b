import type { ResourceModel } from '../../resource/resource-model.js'
import type { FilterNode, PlanColumn, RelatedRow } from '../query/query-plan.js'
import type { TableName } from './catalog/table-definition.js'
import { sameSql, storedSql } from './column-sql.js'
import type { Dialect } from './dialect.js'
import { quoteTable } from './quote-table.js'

/** Returns the table of a resource. */
export type TableOf = (target: ResourceModel) => TableName

/** The qualifiers of the tables that one statement reads. */
export class RowNames {
  readonly #joined = new Map<RelatedRow, string>()

  /**
   * @param own - the qualifier of the resource's own columns.
   */
  constructor(
    readonly own: string,
    private readonly tableOf: TableOf,
    private readonly names = { count: 0 },
  ) {}

  /** Returns the qualifier of a row's columns. Undefined stands for the resource's own row. */
  of(row: RelatedRow | undefined): string {
    return row === undefined ? this.own : (this.#joined.get(row) as string)
  }

  /** Returns the names for a subquery with its own rows. */
  inside(own = this.#next()): RowNames {
    return new RowNames(own, this.tableOf, this.names)
  }

  /**
   * Returns the joins for rows that a plan reads through relations, to follow FROM. Rows whose relation is
   * empty are kept, with NULL in the joined columns.
   *
   * @param write - writes the condition of a row. Its placeholders come next.
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

  /** Returns a row's table with an alias. */
  table({ target }: RelatedRow, name: string, { text: { quote } }: Dialect): string {
    return `${quoteTable(this.tableOf(target), { text: { quote } })} AS ${quote(name)}`
  }

  /** Returns the join condition between a row and the row that refers to it. */
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

  /** Returns an alias. The parentheses prevent a clash with real tables. */
  #next(): string {
    return `(${++this.names.count})`
  }
}

/** Returns true if the plan has no condition. */
export const isAll = (node: FilterNode): boolean => node.kind === 'and' && node.nodes.length === 0

/** The rows of other resources that a plan reads. */
export interface Beside {
  /** The joined rows. Each comes after the row that refers to it. */
  readonly joined: readonly RelatedRow[]
  /** True if the plan reads other rows, joined or in a subquery. */
  readonly isAny: boolean
}

/** Returns the rows of other resources that plans and columns read. */
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
