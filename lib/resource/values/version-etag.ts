import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { type Problem, propertyProblem } from '../../errors.js'
import type { ComputedField, Field, Role } from '../fields/field.js'
import { string } from '../kinds/text.js'

/** The columns from which the etag is computed if the class has `@VersionColumn()` and no `@ETag()`. */
export interface VersionEtag {
  /** The field `etag` of the message. */
  readonly field: DescField
  readonly version: Field
  /** Distinguishes a row from an earlier, deleted row with the same key. */
  readonly createTime: Field | undefined
}

/** The column values that an etag contains. A row has the same etag while it has these values. */
export interface RowVersion {
  readonly version: number
  readonly createTime: Date | undefined
}

/**
 * Returns the columns from which the message's field `etag` is computed. Returns undefined if the
 * class has a property for the field, or no `@VersionColumn()`.
 * @param isHeld - true if a property of the class belongs to the field.
 */
export function versionEtagOf(
  message: DescMessage | undefined,
  fields: readonly Field[],
  isHeld: (field: DescField) => boolean,
): VersionEtag | undefined {
  const field = message?.fields.find(({ name }) => name === 'etag')
  if (field?.fieldKind !== 'scalar' || field.scalar !== ScalarType.STRING || isHeld(field)) return undefined
  const withRole = (role: Role) => fields.find((one) => one.role === role)
  const version = withRole('version')
  return version && { field, version, createTime: withRole('createTime') }
}

/** Returns a problem if a row that is deleted and created again with the same key could get its old etag. */
export function versionEtagProblems(parts: VersionEtag, fields: readonly Field[]): Problem[] {
  const isUnique = fields.some(
    ({ role, isIdentity }) => role === 'createTime' || role === 'deleteTime' || isIdentity === true,
  )
  if (isUnique) return []
  const { property } = parts.version
  const rule = `the etag is made of ${property}, so a row that is deleted and created again has the etag of the old row`
  return [
    propertyProblem(
      'message',
      property,
      rule,
      'add @CreateDateColumn() createTime!: Date, or @ETag() etag!: string',
    ),
  ]
}

/** Returns the computed field that fills `etag` from the columns of an entity. */
export const etagField = (parts: VersionEtag): ComputedField => ({
  property: parts.field.localName,
  proto: parts.field.name,
  kind: string.name,
  nullable: false,
  repeated: false,
  maxLength: undefined,
  exposed: true,
  valueOf: (entity) => etagOf(parts, entity),
})

/**
 * Returns the etag of an entity: its version and, if the class has one, its create time in milliseconds.
 * Returns `''` if the entity has no version.
 */
export function etagOf({ version, createTime }: VersionEtag, entity: object): string {
  const values = entity as Readonly<Record<string, unknown>>
  const count = values[version.property]
  if (count === undefined || count === null) return ''
  const time = createTime && values[createTime.property]
  if (time === undefined || time === null) return String(count as number)
  return `${count as number}-${new Date(time as Date | string | number).getTime()}`
}

const ETAG = /^(?<version>0|[1-9]\d{0,14})(?:-(?<time>0|-?[1-9]\d{0,14}))?$/

/** Returns the values that an etag contains; undefined if the string is not an etag. */
export function versionIn(etag: string): RowVersion | undefined {
  const { version, time } = ETAG.exec(etag)?.groups ?? {}
  if (version === undefined) return undefined
  return { version: Number(version), createTime: time === undefined ? undefined : new Date(Number(time)) }
}
