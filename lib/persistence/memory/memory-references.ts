import { missingTarget } from '../../resource/relations/missing-target.js'
import { isWritten, sharedParts } from '../references/parts-of-name.js'
import { isOwning, type OwningRelation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import type { MemoryDatabase } from './memory-database.js'

/** The references that a resource holds, in memory: a write makes sure of their targets. */
export class MemoryReferences {
  private constructor(
    private readonly model: ResourceModel,
    private readonly references: readonly OwningRelation[],
    private readonly database: Pick<MemoryDatabase, 'resourceOf'>,
  ) {}

  /** Undefined where the resource refers to nothing. */
  static of(
    model: ResourceModel,
    database: Pick<MemoryDatabase, 'resourceOf'>,
  ): MemoryReferences | undefined {
    const references = model.relations.filter(isOwning)
    return references.length === 0 ? undefined : new MemoryReferences(model, references, database)
  }

  /**
   * @param row - as it is before.
   * @param written - what is written of the row.
   * @throws InvalidArgument for the first reference whose target is missing, deleted, of another tenant, or has another name than
   * the one that the name of the row begins with.
   * @throws TypeError where no repository of the target is on the database.
   */
  check(row: Readonly<Values>, written: Readonly<Values>): void {
    const values = { ...row, ...written }
    for (const relation of this.references) {
      const target = resourceModel<object>(relation.target())
      const parts = sharedParts(this.model, relation, target)
      const key: unknown = values[relation.reference.property] ?? undefined
      if (!isWritten(relation, parts, written) || key === undefined) continue
      const { tenant } = this.model
      const owner = tenant === undefined || target.tenant === undefined ? undefined : row[tenant.property]
      const { table } = this.database.resourceOf(target)
      const found = table.find(key as string, owner as string | undefined)
      const isNamed = (one: Readonly<Values>) =>
        parts.every(({ own, target: other }) => one[other.property] === values[own.property])
      if (!found.some((one) => table.isLive(one) && isNamed(one))) throw missingTarget(relation)
    }
  }
}
