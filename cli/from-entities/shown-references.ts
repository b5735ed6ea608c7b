import { snakeCase } from '../../lib/text/snake-case.js'
import type { ShownEntity, ShownField } from './shown-fields.js'

/**
 * Adds a field for each relation whose class has no column property for its key: the relation `owner` gets
 * the field `owner_id`.
 * @param keyOf - returns the key of a class; undefined if it is not a resource.
 */
export function withReferences(
  shown: ShownEntity,
  keyOf: (entity: string) => ShownField | undefined,
): ShownEntity {
  const { offKey, owners, references, relations, targets } = shown.facts
  const added = relations.flatMap(({ propertyName, options }): ShownField[] => {
    const key = keyOf(targets.get(propertyName) ?? '')
    const property = `${propertyName}Id`
    const name = snakeCase(property)
    const isTaken = shown.fields.some((one) => one.name === name)
    if (!owners.has(propertyName) || offKey.has(propertyName) || references.has(propertyName)) return []
    if (key === undefined || isTaken) return []
    const isRequired = options.nullable === false
    return [
      {
        ...{ name, property: propertyName, type: key.type, isList: false, enumeration: undefined },
        ...{ isOptional: !isRequired, comment: undefined },
        behaviors: isRequired && key.type === 'string' ? ['REQUIRED'] : [],
      },
    ]
  })
  const isAdded = (property: string) => added.some((one) => one.property === property)
  return {
    ...shown,
    fields: [...shown.fields, ...added],
    leftOut: shown.leftOut.filter(({ property }) => !isAdded(property)),
    unfilled: shown.unfilled.filter((property) => !isAdded(property)),
  }
}
