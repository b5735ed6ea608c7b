import { type Problem, propertyProblem } from '../../errors.js'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { fieldMarks } from './field-marks.js'

/** The properties of an entity as the check of its secrets reads them. */
export interface StoredProperties {
  /** Returns the property that stores a message field. */
  readonly propertyOf: (field: DescField) => string
  /** The properties that have their own column. */
  readonly columns: ReadonlyMap<string, unknown>
  /** The declarations of decorators, by property. */
  readonly declared: ReadonlyMap<string, { readonly role?: string }>
}

/**
 * Returns a problem, with advice, for each field that the .proto marks as a secret but that would be stored
 * unencrypted and returned to callers.
 */
export const secretProblems = (
  message: DescMessage,
  { propertyOf, columns, declared }: StoredProperties,
): Problem[] =>
  message.fields.flatMap((field) => {
    const property = propertyOf(field)
    const role = declared.get(property)?.role
    if (role === 'secret' || role === 'credential') return []
    const isStored = columns.has(property)
    if (fieldMarks(field).isSecret)
      return isStored || role === 'computed'
        ? [propertyProblem('secret', property, `${nameOf(field)} ${MARKED}`, adviceFor(property))]
        : []
    if (!isStored || field.message === undefined) return []
    return secretsInside(field.message, new Set()).map((secret) =>
      propertyProblem(
        'secret',
        property,
        `${field.name} of ${message.typeName} contains ${nameOf(secret)}, which ${MARKED}, but the content of a message is stored as it is`,
        `move it to a field of ${message.typeName}, with @Secret() or @Credential()`,
      ),
    )
  })

const MARKED = 'is marked as a secret by an option of its .proto'

const adviceFor = (property: string): string =>
  `declare @Secret() ${property}?: Secret, or @Credential() ${property}?: Credential, which are not returned`

const nameOf = ({ name, parent }: DescField): string => `${name} of ${parent.typeName}`

function secretsInside(message: DescMessage, seen: Set<DescMessage>): readonly DescField[] {
  if (seen.has(message)) return []
  seen.add(message)
  return message.fields.flatMap((field) => {
    if (fieldMarks(field).isSecret) return [field]
    return field.message === undefined ? [] : secretsInside(field.message, seen)
  })
}
