import type { Message } from '@bufbuild/protobuf'
import { isOwning } from '../../../resource/relations/relation.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { sparingImmutable, type Written } from './immutable-fields.js'

/** The entity and the fields that an update passes to its repository. */
interface Update extends Written {
  readonly entity: object
}

/**
 * Returns a function that creates the entity of an update. It has only the key and the properties that the
 * update writes, so that a repository's override receives no other value. A full update has all.
 */
export const updateOf = (model: ResourceModel): ((message: Message, asked: Written) => Update) => {
  const keys = model.keys.parts.map(({ field }) => field.property)
  const properties = propertiesOf(model)
  const spared = sparingImmutable(model)
  const entityOf = (message: Message, { paths, touchOnly }: Written): object => {
    if (!touchOnly && (paths.length === 0 || paths.includes('*'))) return model.fromMessage(message)
    const named = new Set(keys)
    // A path may lead into a field. The field is then written as a whole.
    if (!touchOnly)
      for (const path of paths)
        for (const property of properties.get(path.split('.', 1)[0] ?? '') ?? []) named.add(property)
    return model.fromMessage(message, named)
  }
  return (message, asked) => {
    const entity = entityOf(message, asked)
    const written = spared === undefined ? asked : spared(asked, entity)
    const { paths, touchOnly } = written
    return { entity: written === asked ? entity : entityOf(message, written), paths, touchOnly }
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
