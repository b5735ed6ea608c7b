import type { Field } from '../../resource/fields/field.js'
import type { OwningRelation } from '../../resource/relations/relation.js'
import type { ReferredRow } from '../contract/related-options.js'
import type { Dialect } from '../dialects/dialect.js'
import { toPredicate } from '../dialects/to-predicate.js'
import type { Placeholders } from '../engines/executor/placeholders.js'
import type { FilterNode } from '../query/query-plan.js'

/** A row that another row is about to refer to. */
export interface Parent {
  readonly relation: OwningRelation
  /**
   * The values that identify it: the tenant if the reference includes it, the key, and other segments of its
   * resource name.
   */
  readonly values: readonly unknown[]
  /** Further conditions for the rows that the caller may refer to. */
  readonly where: FilterNode | undefined
  /**
   * Returns SQL that selects the row if it is live, and optionally locks it. The values are bound in their
   * order.
   *
   * @param where - the caller's condition as SQL.
   */
  readonly select: (bind: (field: Field) => string, lock: boolean, where: string | undefined) => string
  /** The row, as passed to the authorizer. */
  readonly row: ReferredRow
}

/**
 * A row that a writing statement selects and locks first. If the row is missing, the statement writes
 * nothing.
 */
export interface Taken {
  readonly relation: OwningRelation
  /** The caller's condition as SQL. The statement depends on it. */
  readonly where: string | undefined
  /** Writes the SQL that selects and locks the row. */
  readonly write: (text: Placeholders) => string
}

/** Returns the locks at the beginning of a statement, with their values. */
export function takenFirst(
  parents: readonly Parent[],
  dialect: Dialect,
): { readonly taken: readonly Taken[]; readonly values: unknown[] } {
  const values: unknown[] = []
  const taken = parents.map(({ relation, select, where, values: own }): Taken => {
    const before = values.push(...own)
    const text = where && toPredicate(where, dialect, values)
    const conditions = values.length - before
    const write = (statement: Placeholders) => {
      const row = select((field) => statement.bind(field), true, text)
      statement.skip(conditions)
      return row
    }
    return { relation, where: text, write }
  })
  return { taken, values }
}

/**
 * Nothing was inserted, because a row that the statement refers to is missing. Only used inside the rows of a
 * resource.
 */
export class MissingParent extends TypeError {
  constructor() {
    super('a referenced row is missing')
  }
}
