import { isOwning } from '../../../resource/relations/relation.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/** The fields that an update writes. */
interface Written {
  readonly paths: readonly string[]
  readonly touchOnly: boolean
}

/**
 * Wraps a function that determines the fields an update writes. It then removes every other property of the
 * entity except the key, so that a repository's override receives no value that is not written. A full update
 * keeps all.
 */
export const sparingUnnamed = (
  model: ResourceModel,
  writtenOf: (written: Written, entity: object) => Written,
): ((asked: Written, entity: object) => Written) => {
  const keys = model.keys.parts.map(({ field }) => field.property)
  const properties = propertiesOf(model)
  return (asked, entity) => {
    const written = writtenOf(asked, entity)
    const { paths, touchOnly } = written
    if (!touchOnly && (paths.length === 0 || paths.includes('*'))) return written
    const named = new Set(keys)
    // A path may lead into a field. The field is then written as a whole.
    if (!touchOnly)
      for (const path of paths)
        for (const property of properties.get(path.split('.', 1)[0] ?? '') ?? []) named.add(property)
    for (const property of Object.keys(entity))
      if (!named.has(property)) Reflect.deleteProperty(entity, property)
    return written
  }
}

/** Returns, for each message field, the entity properties to which it is written. */
function propertiesOf(model: ResourceModel): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const add = (proto: string, property: string) => found.set(proto, [...(found.get(proto) ?? []), property])
  for (const [proto, { property }] of model.byProto) add(proto, property)
  for (const { proto, property } of [...model.secrets, ...model.embedded]) add(proto, property)
  for (const relation of model.relations) {
    add(relation.proto, relation.property)
    if (isOwning(relation)) add(relation.proto, relation.reference.property)
  }
  return found
}
