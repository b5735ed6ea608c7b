import { isOwning } from '../../../resource/relations/relation.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/** What an update writes. */
interface Written {
  readonly paths: readonly string[]
  readonly touchOnly: boolean
}

/**
 * Wraps a function that finds out what an update writes: it then removes every other property of the entity,
 * except the key, so that a repository's override sees no value that is not written. A full update keeps all.
 */
export const sparingUnnamed =
  (model: ResourceModel, writtenOf: (written: Written, entity: object) => Written) =>
  (asked: Written, entity: object): Written => {
    const written = writtenOf(asked, entity)
    const { paths, touchOnly } = written
    if (!touchOnly && (paths.length === 0 || paths.includes('*'))) return written
    const named = new Set(model.keys.parts.map(({ field }) => field.property))
    for (const path of touchOnly ? [] : paths)
      for (const property of propertiesOf(model, path)) named.add(property)
    for (const property of Object.keys(entity))
      if (!named.has(property)) Reflect.deleteProperty(entity, property)
    return written
  }

/** A path may lead into a field, which is then written as a whole. */
function propertiesOf(model: ResourceModel, path: string): readonly string[] {
  const [name = ''] = path.split('.')
  const field = model.byProto.get(name) ?? model.secrets.find(({ proto }) => proto === name)
  const relation = model.relations.find(({ proto }) => proto === name)
  return [
    field?.property,
    relation?.property,
    relation && isOwning(relation) ? relation.reference.property : undefined,
  ].filter((one) => one !== undefined)
}
