import { missingTarget } from '../../resource/relations/missing-target.js'
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
   * @param written - what is written of the row.
   * @throws InvalidArgument for the first reference whose target is missing, deleted, or of another tenant.
   * @throws TypeError where no repository of the target is on the database.
   */
  check(row: Readonly<Values>, written: Readonly<Values>): void {
    for (const relation of this.references) {
      const key: unknown = written[relation.reference.property] ?? undefined
      if (key === undefined) continue
      const target = resourceModel<object>(relation.target())
      const { tenant } = this.model
      const owner = tenant === undefined || target.tenant === undefined ? undefined : row[tenant.property]
      const { table } = this.database.resourceOf(target)
      const found = table.find(key as string, owner as string | undefined)
      if (!found.some((one) => table.isLive(one))) throw missingTarget(relation)
    }
  }
}
