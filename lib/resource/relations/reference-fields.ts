import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { resource_reference as resourceReference } from 'ashlar-annotations/google/api/resource_pb.js'
import { behaves } from '../behavior/field-behavior.js'
import { canBeKey } from '../keys/on-the-wire.js'
import { resourceAnnotation } from '../names/resource-annotation.js'

/** A field that contains the name or key of another resource (`google.api.resource_reference`). */
export interface ReferenceField {
  readonly field: DescField
  /** The resource type, such as `library.example.com/Book`. */
  readonly type: string
}

/** A field that shows the resource to which another field refers. It is filled on reads and never stored. */
export interface ShownReference {
  readonly field: DescField & { readonly message: DescMessage }
  readonly reference: DescField
  readonly type: string
}

/** A reference to resources of any type, which is not checked. */
const ANY = '*'

/** Returns the references of a resource, including those in nested messages. */
export function referenceFields(message: DescMessage, seen = new Set<DescMessage>()): ReferenceField[] {
  if (seen.has(message)) return []
  seen.add(message)
  return message.fields.flatMap((field) => {
    const type = typeOf(field)
    if (type !== undefined) return [{ field, type }]
    const inside = field.message
    return inside === undefined || resourceAnnotation(inside) !== undefined
      ? []
      : referenceFields(inside, seen)
  })
}

/**
 * Returns the fields of a message that show the targets of its references. They are OUTPUT_ONLY and have the
 * message type of a resource. Their reference is the field of that type with the same name plus `_id` or
 * `_name`, or the only field of the type.
 */
export function shownReferences(message: DescMessage): ShownReference[] {
  return message.fields.flatMap((field) => {
    const type = shownType(field)
    const reference = type === undefined ? undefined : referenceBeside(field, type)
    return type === undefined || reference === undefined
      ? []
      : [{ field: field as ShownReference['field'], reference, type }]
  })
}

/** Returns the reason why it is ambiguous which reference a field shows; undefined if it is not. */
export function unclearReference(field: DescField): string | undefined {
  const type = shownType(field)
  if (type === undefined || referenceBeside(field, type) !== undefined) return undefined
  const several = referencesTo(field.parent, type).map(({ name }) => name)
  const unfit = field.parent.fields.filter((other) => typeOf(other) === type).map(({ name }) => name)
  if (several.length === 0 && unfit.length > 0)
    return `${field.name} of ${field.parent.typeName} shows a ${type}, but ${unfit.join(' and ')} cannot hold its key: make it one string, or one integer, outside a oneof`
  if (several.length < 2) return undefined
  return `${field.name} of ${field.parent.typeName} shows a ${type}, to which ${several.join(' and ')} refer: name it after one of them, which is then ${field.name}_id`
}

/** Returns the type of the resource that a field may show. */
function shownType(field: DescField): string | undefined {
  if (field.fieldKind !== 'message' || field.oneof !== undefined || !behaves(field, 'OUTPUT_ONLY'))
    return undefined
  return resourceAnnotation(field.message)?.type
}

function referenceBeside({ name, parent }: DescField, type: string): DescField | undefined {
  const all = referencesTo(parent, type)
  return (
    all.find((other) => other.name === `${name}_id` || other.name === `${name}_name`) ??
    (all.length === 1 ? all[0] : undefined)
  )
}

const referencesTo = (message: DescMessage, type: string): DescField[] =>
  message.fields.filter((field) => typeOf(field) === type && field.fieldKind === 'scalar' && canBeKey(field))

function typeOf(field: DescField): string | undefined {
  if (!hasOption(field, resourceReference)) return undefined
  const { type } = getOption(field, resourceReference)
  return type === '' || type === ANY ? undefined : type
}
