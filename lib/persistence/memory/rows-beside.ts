import type { Values } from '../contract/new-entity.js'
import { planValueOf } from '../query/compare-values.js'
import { and, type PlanColumn, type RelatedRow } from '../query/query-plan.js'
import { type ReadColumn, type TestSome, toTest } from './filter-test.js'
import type { MemoryDatabase } from './memory-database.js'
import type { MemoryTable } from './memory-table.js'

type Readable = Pick<MemoryTable<object>, 'read'>

/** The rows of a table and of related resources. */
export interface RowsBeside<E extends object> {
  readonly table: MemoryTable<E>
  readonly read: ReadColumn<Values>
  readonly some: TestSome<Values>
}

/**
 * Returns the rows of a table, with functions that find related rows by comparing columns, as a join does.
 */
export const rowsBeside = <E extends object>(
  table: MemoryTable<E>,
  database: Pick<MemoryDatabase, 'resourceOf'>,
): RowsBeside<E> => {
  const read: ReadColumn<Values> = (row, column) => {
    if (column.of === undefined) return table.read(row, column)
    const related = joined(row, column.of)
    return related && database.resourceOf(column.of.target).table.read(related, column)
  }
  /** Returns the related row, or undefined if there is none. */
  const joined = (row: Values, of: RelatedRow): Values | undefined => {
    const from = of.from === undefined ? row : joined(row, of.from)
    return from && rowsOf(from, of)[0]
  }
  /** Returns the target's rows that a row refers to. */
  const rowsOf = (from: Values, { from: before, target, pairs, where }: RelatedRow): Values[] => {
    const other = database.resourceOf(target).table
    const source: Readable = before === undefined ? table : database.resourceOf(before.target).table
    const value = (one: Readable, of: Values, column: PlanColumn) => planValueOf(column, one.read(of, column))
    const wanted = pairs.map((pair) => ({ to: pair.to, value: value(source, from, pair.from) }))
    if (wanted.some((one) => one.value === undefined)) return []
    const test = toTest(where, other.read)
    return other.filter((row) => wanted.every((one) => value(other, row, one.to) === one.value) && test(row))
  }
  const some: TestSome<Values> = ({ rows, node }) => {
    const inside = rowsBeside(database.resourceOf(rows.target).table, database)
    const test = toTest(and(node), inside.read, inside.some)
    return (row) => {
      const from = rows.from === undefined ? row : joined(row, rows.from)
      return from !== undefined && rowsOf(from, rows).some(test)
    }
  }
  return { table, read, some }
}
