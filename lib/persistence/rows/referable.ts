import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import type { OwningRelation } from '../../resource/relations/relation.js'
import type { ReferenceAccess, ReferredRow, RowLimits } from '../contract/related-options.js'
import { predicateOf } from '../query/predicate.js'
import type { FilterNode } from '../query/query-plan.js'

/** The condition under which the caller of a write may refer to a row. */
export interface Limit {
  readonly isNone: boolean
  readonly where: FilterNode | undefined
  readonly test: RowLimits['test']
}

/** The rows that the caller of one write may refer to. The authorizer is called once per row. */
export class Referable {
  readonly #limits = new Map<OwningRelation, Map<string, Limit>>()

  constructor(private readonly access: ReferenceAccess) {}

  /** True if rows must be loaded, because the authorizer's code decides about them. */
  get asksCode(): boolean {
    return [...this.#limits.values()].some((byRow) =>
      [...byRow.values()].some(({ test }) => test !== undefined),
    )
  }

  /** Returns undefined if the authorizer has not been called yet. */
  known(relation: OwningRelation, row: ReferredRow): Limit | undefined {
    return this.#limits.get(relation)?.get(identityOf(row))
  }

  async ask(relation: OwningRelation, row: ReferredRow): Promise<Limit> {
    const known = this.known(relation, row)
    if (known !== undefined) return known
    const { isNone, where, test } = await this.access.refer(row)
    const limit = { isNone, where: predicateOf(row.target, where), test }
    const byRow = this.#limits.get(relation) ?? new Map<string, Limit>()
    this.#limits.set(relation, byRow.set(identityOf(row), limit))
    return limit
  }
}

const identityOf = ({ values }: ReferredRow): string => JSON.stringify(values)

/** Returns true if all values are known. A write may leave a part of the name unchanged. */
export const isKnown = ({ values }: ReferredRow): boolean =>
  Object.values(values).every((value) => value !== undefined)

/** Returns a part of a resource name as a string, or undefined if the values do not contain it. */
export function textIfWritten(part: Field, values: Readonly<Record<string, unknown>>): string | undefined {
  const value = values[part.property] ?? undefined
  return value === undefined ? undefined : keyPartOf(part).textOf(value)
}
