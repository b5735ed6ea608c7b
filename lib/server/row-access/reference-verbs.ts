import { problem, type Problem } from '../../errors.js'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { fieldMarks } from '../../resource/behavior/field-marks.js'
import { isChecked } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Registry } from '../methods/registry.js'

/**
 * Returns the verb in `(ashlar.api.v1.field).reference_verb`, by reference. A reference that exists only in
 * the name has no field, so the name field's verb applies.
 */
export function referenceVerbs({ message, name, relations }: ResourceModel): ReadonlyMap<string, string> {
  const verbs = new Map<string, string>()
  for (const { reference } of relations.filter(isChecked)) {
    const field = message?.fields.find((one) => one.name === reference.proto) ?? name?.field
    if (field !== undefined && (field !== name?.field || isInName(name, reference.proto)))
      verbs.set(reference.proto, fieldMarks(field).referenceVerb)
  }
  return verbs
}

const isInName = (name: ResourceModel['name'], proto: string): boolean =>
  name?.variables.some(({ field }) => field.proto === proto) === true

/** Returns a problem for each field that names a verb but is not a reference. */
export function strayReferenceVerbs(registry: Registry): Problem[] {
  const models = registry.repositories().map(({ model }) => model)
  const inputs = registry.services().flatMap(({ methods }) => methods.map(({ input }) => input))
  const known = new Set(models.flatMap(fieldsOfReferences))
  const fields = [
    ...models.flatMap(({ message }) => (message === undefined ? [] : fieldsWithin(message, new Set()))),
    ...inputs.flatMap((input) => input.fields),
  ]
  return [...new Set(fields)]
    .filter((field) => fieldMarks(field).referenceVerb !== '' && !known.has(field))
    .map((field) =>
      problem(
        'reference',
        `${field.name} of ${field.parent.typeName} has a reference_verb, but is not a reference`,
        "write it at the resource's field that holds the key of another resource, or at its name if only the name holds it",
      ),
    )
}

const fieldsOfReferences = (model: ResourceModel): readonly DescField[] => {
  const verbs = referenceVerbs(model)
  const own = (model.message?.fields ?? []).filter(({ name }) => verbs.has(name))
  const inName = [...verbs.keys()].some((proto) => isInName(model.name, proto))
  return inName && model.name !== undefined ? [...own, model.name.field] : own
}

function fieldsWithin(message: DescMessage, seen: Set<DescMessage>): readonly DescField[] {
  if (seen.has(message) || message.typeName.startsWith('google.')) return []
  seen.add(message)
  return message.fields.flatMap((field) => [
    field,
    ...(field.message === undefined ? [] : fieldsWithin(field.message, seen)),
  ])
}
