import { type Problem, propertyProblem } from '../errors.js'
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import type { Field } from './fields/field.js'
import { kindOfMessageField } from './kinds/declared-kind.js'
import { tags } from './kinds/json.js'
import { misspelt } from '../text/misspelt.js'
import { nearestNames } from '../text/nearest-names.js'
import { shownReferences, unclearReference } from './relations/reference-fields.js'
import { isMarkedSecret } from './redaction.js'

/**
 * Returns a problem, with advice, for each message field that no property stores.
 * @param fields - the fields of the entity.
 * @param left - properties with `@Internal()`.
 * @param known - fields that a property stores, or for which a problem was already reported.
 */
export function missingFields(
  message: DescMessage,
  fields: readonly Field[],
  known: ReadonlySet<DescField>,
  left: ReadonlySet<string>,
): Problem[] {
  const shown = new Set<DescField>(shownReferences(message).map(({ field }) => field))
  const missing = message.fields.filter((field) => !known.has(field) && !shown.has(field))
  const internal = new Set(fields.filter(({ exposed }) => !exposed).map(({ property }) => property))
  return missing.map((field) => {
    const unclear = unclearReference(field)
    const wrong = (rule: string, advice?: string) => propertyProblem('message', field.localName, rule, advice)
    if (unclear !== undefined) return wrong(unclear)
    const kind = kindOfMessageField(field)
    if (typeof kind !== 'string') return wrong(`${field.name} of ${message.typeName} ${kind.problem}`)
    const has = `${message.typeName} has a field ${field.name}, but no property ${field.localName} stores it`
    const held = heldBy(field, fields)
    if (held !== undefined)
      return wrong(has, `write @ProtoField('${field.name}') above the property ${held.property}`)
    if (left.has(field.localName))
      return wrong(has, `remove @Internal() from the property ${field.localName}, or remove the field`)
    const [meant] = nearestNames(field.localName, internal)
    if (meant === undefined) return wrong(has, adviceFor(field))
    internal.delete(meant)
    return wrong(
      has,
      `${misspelt(meant, message.name, [field.localName])} Or write @ProtoField('${field.name}') above the property ${meant}`,
    )
  })
}

/** Fields that a decorator implements. As plain columns they would be ordinary data. */
const DECORATED: Readonly<Record<string, string>> = {
  deleteTime: 'write @SoftDeletable() below @Resource()',
  expireTime: 'write @Expirable() below @Resource()',
  etag: 'add @ETag() etag!: string',
  createTime: 'add @CreateTime() createTime!: Date',
  updateTime: 'add @UpdateTime() updateTime!: Date',
}

/**
 * Returns the field whose decorator corresponds to the message field but which has another name in the
 * message.
 */
const heldBy = ({ localName }: DescField, fields: readonly Field[]): Field | undefined =>
  Object.hasOwn(DECORATED, localName)
    ? fields.find(({ role, exposed }) => role === localName && !exposed)
    : undefined

function adviceFor(field: DescField): string {
  const decorated = Object.hasOwn(DECORATED, field.localName) ? DECORATED[field.localName] : undefined
  if (decorated !== undefined) return decorated
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING && isMarkedSecret(field))
    return `add @Secret() ${field.localName}?: Secret, or @Credential() ${field.localName}?: Credential`
  if (field.fieldKind === 'map' && kindOfMessageField(field) === tags.name) return 'add one with @Tags()'
  return field.oneof !== undefined || field.proto.proto3Optional
    ? 'add one with @Column({ nullable: true })'
    : 'add one with @Column()'
}
