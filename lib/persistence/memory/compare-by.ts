import { compareValues, planValueOf } from '../query/compare-values.js'
import type { ReadColumn } from './filter-test.js'
import type { OrderTerm } from '../query/order-by.js'

/**
 * Returns a comparator that sorts entities as databases do: NULL last in ascending and first in descending
 * order.
 */
export const compareBy =
  <E>(terms: readonly OrderTerm[], read: ReadColumn<E>): ((a: E, b: E) => number) =>
  (a, b) => {
    for (const { column, direction } of terms) {
      const x = planValueOf(column, read(a, column))
      const y = planValueOf(column, read(b, column))
      const order = x === undefined || y === undefined ? nulls(x, y) : (compareValues(x, y) ?? 0)
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return 0
  }

/** Compares NULLs. NULL is greater than every value. */
const nulls = (x: unknown, y: unknown): number => Number(x === undefined) - Number(y === undefined)
