import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import type { OwningRelation } from '../../resource/relations/relation.js'
import type { ReferenceAccess, ReferredRow, RowLimits } from '../contract/related-options.js'
import { predicateOf } from '../query/predicate.js'
import type { FilterNode } from '../query/query-plan.js'

/** Which row the caller of a write may refer to, as statements need it. */
export interface Limit {
  readonly isNone: boolean
  readonly where: FilterNode | undefined
  readonly test: RowLimits['test']
}

/** The rows that the caller of one write may refer to. Each row is decided once. */
export class Referable {
  readonly #limits = new Map<OwningRelation, Map<string, Limit>>()

  constructor(private readonly access: ReferenceAccess) {}

  /** True if the row must be loaded, because code and not only SQL decides about it. */
  get asksCode(): boolean {
    return [...this.#limits.values()].some((byRow) =>
      [...byRow.values()].some(({ test }) => test !== undefined),
    )
  }

  /** Undefined until it is decided. */
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

/** True if all of its values are known: a write may leave a part of the name as it is. */
export const isKnown = ({ values }: ReferredRow): boolean =>
  Object.values(values).every((value) => value !== undefined)

/** The text of a part of a name; undefined where the values do not have it. */
export function textIfWritten(part: Field, values: Readonly<Record<string, unknown>>): string | undefined {
  const value = values[part.property] ?? undefined
  return value === undefined ? undefined : keyPartOf(part).textOf(value)
}
