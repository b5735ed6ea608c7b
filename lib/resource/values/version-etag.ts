import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { type Problem, propertyProblem } from '../../errors.js'
import type { ComputedField, Field, Role } from '../fields/field.js'
import { string } from '../kinds/text.js'

/** The columns of which an etag is made if the class has `@VersionColumn()` and no `@ETag()`. */
export interface VersionEtag {
  /** The field `etag` of the message. */
  readonly field: DescField
  readonly version: Field
  /** Distinguishes a row from one that was deleted and created again with the same key. */
  readonly createTime: Field | undefined
}

/** The values that a row has if it still has the etag. */
export interface RowVersion {
  readonly version: number
  readonly createTime: Date | undefined
}

/**
 * Returns the columns that make the message's field `etag`. Returns undefined if the class has a property for
 * the field, or no `@VersionColumn()`.
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

/** Returns why an etag would not be unique: a row that is created again with the same key has the old one. */
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

/** Returns the field `etag` as one that is computed from the entity. */
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

/** Returns the version of an entity with its create time in milliseconds, or '' without a version. */
export function etagOf({ version, createTime }: VersionEtag, entity: object): string {
  const values = entity as Readonly<Record<string, unknown>>
  const count = values[version.property]
  if (count === undefined || count === null) return ''
  const time = createTime && values[createTime.property]
  if (time === undefined || time === null) return String(count as number)
  return `${count as number}-${new Date(time as Date | string | number).getTime()}`
}

const ETAG = /^(?<version>0|[1-9]\d{0,14})(?:-(?<time>0|-?[1-9]\d{0,14}))?$/

/** Returns what an etag stands for; undefined for a text that is not an etag. */
export function versionIn(etag: string): RowVersion | undefined {
  const { version, time } = ETAG.exec(etag)?.groups ?? {}
  if (version === undefined) return undefined
  return { version: Number(version), createTime: time === undefined ? undefined : new Date(Number(time)) }
}
