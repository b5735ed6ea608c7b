import type { ResourceModel } from '../../resource/resource-model.js'
import { entitiesRead, Hooks } from '../hooks/call-hooks.js'
import { type Reading, RelatedRows } from '../relations/related-rows.js'
import type { MemoryDatabase, MemoryResource, MemoryRows } from './memory-database.js'
import { pageOf } from './page-of.js'
import { rowsBeside } from './rows-beside.js'

/** What an operation has read, and the relations that it was asked for. */
interface Found {
  readonly name: string
  readonly result: unknown
  readonly paths: readonly string[]
}

/**
 * Reads the relations of entities from the other resources of their database.
 * @throws TypeError for a path that is none, and where the repository of the other resource is on another database.
 */
export const readRelated = <E extends object>(
  database: MemoryDatabase,
  model: ResourceModel<E>,
  { name, result, paths }: Found,
  reading: Reading<MemoryRows>,
): Promise<void> =>
  new RelatedRows<MemoryRows>(model as unknown as ResourceModel, (target) => {
    const resource = database.resourceOf(target) as MemoryResource | undefined
    if (resource === undefined)
      throw new TypeError(
        `no repository of ${target.entity.name} is on this MemoryDatabase: give the repositories of related resources the same \`database\``,
      )
    const { table } = resource
    return {
      hooks: new Hooks(target),
      list: ({ read }, plan, tenant) => read(pageOf(target, rowsBeside(table, database), plan, { tenant })),
    }
  }).read(entitiesRead(name, result), paths, reading)
