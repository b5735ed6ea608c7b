import type { DescField } from '@bufbuild/protobuf'

interface Mapped {
  readonly protoField?: string
  readonly isInternal?: true
}

/** Returns the field names of `@ProtoField()` by property. */
export const namedFields = (properties: ReadonlyMap<string, Mapped>): Map<string, string> =>
  new Map(
    [...properties].flatMap(([property, { protoField }]) =>
      protoField === undefined ? [] : [[property, protoField] as const],
    ),
  )

/**
 * Maps properties to the message's fields: the field that `@ProtoField()` names, or the field with the same
 * name, in camelCase or as in the .proto.
 *
 * @param declared - the properties of the entity.
 */
export function fieldsByProperty(
  fields: readonly DescField[],
  named: ReadonlyMap<string, string>,
  declared: ReadonlySet<string>,
): Map<string, DescField> {
  const byName = new Map(fields.map((field) => [field.name, field]))
  const taken = new Set(named.values())
  const own = fields.filter(({ name, localName }) => !taken.has(name) && !named.has(localName))
  return new Map([
    ...own.map((field) => [ownProperty(field, declared), field] as const),
    ...[...named].flatMap(([property, name]) => {
      const field = byName.get(name)
      return field === undefined ? [] : [[property, field] as const]
    }),
  ])
}

const ownProperty = ({ name, localName }: DescField, declared: ReadonlySet<string>): string =>
  declared.has(name) && !declared.has(localName) ? name : localName
