import type { Field } from '../../resource/fields/field.js'
import type { OwningRelation } from '../../resource/relations/relation.js'
import type { ReferredRow } from '../contract/related-options.js'
import type { Dialect } from '../dialects/dialect.js'
import { toPredicate } from '../dialects/to-predicate.js'
import type { Placeholders } from '../engines/executor/placeholders.js'
import type { FilterNode } from '../query/query-plan.js'

/** A row that another one is about to refer to. */
export interface Parent {
  readonly relation: OwningRelation
  /**
   * The values that identify it: its tenant, if the reference holds one, its key, and the other parts of its
   * name.
   */
  readonly values: readonly unknown[]
  /** The other conditions under which the caller may refer to it. */
  readonly where: FilterNode | undefined
  /**
   * Selects it while it is live, and locks it; the values are bound in their order. @param where - of the
   * caller, as text.
   */
  readonly select: (bind: (field: Field) => string, lock: boolean, where: string | undefined) => string
  /** The row, for those who say what the caller may refer to. */
  readonly row: ReferredRow
}

/** A row that a statement selects and locks before it writes: it writes nothing where the row is missing. */
export interface Taken {
  readonly relation: OwningRelation
  /** The condition of the caller as text: the statement depends on it. */
  readonly where: string | undefined
  /** Selects and locks it. */
  readonly write: (text: Placeholders) => string
}

/** The locks at the beginning of a statement, and their values. */
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
 * Nothing was inserted, because a row that the statement takes is not there. It never leaves the rows of a
 * resource.
 */
export class MissingParent extends TypeError {
  constructor() {
    super('a referenced row is missing')
  }
}
