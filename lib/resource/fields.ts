import { getOption, hasOption, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { getMetadataArgsStorage } from 'typeorm'
import { CREDENTIAL_PARTS } from '../../decorators/credential.js'
import { lineage, type EntityFacts } from '../../decorators/metadata.js'
import { snakeCase } from '../../decorators/snake-case.js'
import { field as fieldOption } from '../gen/ashlar/api/v1/annotations_pb.js'
import { FieldBehavior, field_behavior } from '../gen/google/api/field_behavior_pb.js'
import type { EnumNames, Field, FieldKind, Role } from './field.js'
import { expectedType, kindOfColumn, kindOfMessageField } from './field-kind.js'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

/** What the reading of one entity found: its fields in column order, and all that does not fit. */
export interface FieldReading {
  readonly fields: readonly Field[]
  readonly problems: readonly string[]
}

/** Joins the columns TypeORM knows, what our decorators said and the message into fields. */
export function readFields(
  entity: object,
  facts: EntityFacts,
  message: DescMessage | undefined,
): FieldReading {
  const problems: string[] = []
  const classes = new Set<unknown>(lineage(entity))
  const columns = new Map<string, ColumnArgs>()
  for (const column of getMetadataArgsStorage().columns)
    if (classes.has(column.target)) columns.set(column.propertyName, column)
  const inMessage = new Map((message?.fields ?? []).map((field) => [field.localName, field]))
  const hidden = hiddenColumns(facts)

  const fields: Field[] = []
  for (const [property, column] of columns) {
    const role = hidden.get(property) ?? roleOf(property, column, facts, inMessage.get(property))
    const field = toField(
      property,
      column,
      role,
      facts,
      hidden.has(property) ? undefined : inMessage.get(property),
    )
    if (typeof field !== 'string') fields.push(field)
    problems.push(...problemsOf(entity, property, column, field, inMessage.get(property)))
  }
  for (const field of inMessage.values()) {
    const role = facts.properties.get(field.localName)?.role
    if (!columns.has(field.localName) && role !== 'secret' && role !== 'credential')
      problems.push(
        `${message?.typeName ?? ''} has a field ${field.name}, and no property ${field.localName} stores it: add one with @Column()`,
      )
  }
  return { fields, problems }
}

/** The made-up properties behind secrets and credentials. */
function hiddenColumns(facts: EntityFacts): Map<string, Role> {
  const hidden = new Map<string, Role>()
  for (const [property, { role }] of facts.properties) {
    if (role === 'secret') for (const part of ['hash', 'cipher']) hidden.set(`${property}_${part}`, 'secret')
    if (role === 'credential')
      for (const part of CREDENTIAL_PARTS) hidden.set(`${property}_${part}`, 'credential')
  }
  return hidden
}

function roleOf(
  property: string,
  column: ColumnArgs,
  facts: EntityFacts,
  inMessage: DescField | undefined,
): Role {
  const declared = facts.properties.get(property)?.role
  if (property === 'accountId') return 'tenant'
  if (column.options.primary === true) return 'key'
  if (property === 'deleteTime') return 'deleteTime'
  if (property === 'expireTime') return 'expireTime'
  if (declared === 'tags') return 'plain'
  if (declared !== undefined) return declared
  return inMessage !== undefined && behaves(inMessage, FieldBehavior.OUTPUT_ONLY) ? 'outputOnly' : 'plain'
}

const behaves = (field: DescField, behavior: FieldBehavior): boolean =>
  getOption(field, field_behavior).includes(behavior)

function toField(
  property: string,
  column: ColumnArgs,
  role: Role,
  facts: EntityFacts,
  inMessage: DescField | undefined,
): Field | string {
  const kind = kindOf(property, column, facts, inMessage)
  if (typeof kind !== 'string') return `${property} ${kind.problem}`
  const proto = inMessage?.name ?? snakeCase(property)
  const facet = facts.properties.get(property)
  const exposed =
    inMessage !== undefined ||
    (facts.resource?.message === undefined && role !== 'secret' && role !== 'credential')
  const option =
    inMessage !== undefined && hasOption(inMessage, fieldOption)
      ? getOption(inMessage, fieldOption)
      : undefined
  const inputOnly = inMessage !== undefined && behaves(inMessage, FieldBehavior.INPUT_ONLY)
  const hidden = inputOnly || option?.secret === true || role === 'secret' || role === 'credential'
  const optedIn = facet?.filterable === true || option?.filterable === true
  const comparable = exposed && !hidden && kind !== 'json'
  const filterable = comparable && (role === 'plain' || role === 'key' || optedIn)
  const nullable = column.options.nullable === true
  return Object.freeze({
    property,
    proto,
    column: column.options.name ?? snakeCase(property),
    kind,
    nullable,
    role,
    filterable,
    writable: exposed && role === 'plain',
    exposed,
    maxLength: kind === 'string' ? maxLengthOf(column) : undefined,
    repeated: inMessage?.fieldKind === 'list',
    ...(inMessage?.fieldKind === 'enum' ? { enumNames: enumNamesOf(inMessage.enum) } : {}),
  })
}

function kindOf(
  property: string,
  column: ColumnArgs,
  facts: EntityFacts,
  inMessage: DescField | undefined,
): FieldKind | { problem: string } {
  if (facts.properties.get(property)?.role === 'tags') {
    const kind = inMessage === undefined ? 'tags' : kindOfMessageField(inMessage)
    return kind === 'tags'
      ? 'tags'
      : { problem: 'is declared with @Tags and is no map<string, string> in the message' }
  }
  if (inMessage !== undefined) return kindOfMessageField(inMessage)
  const kind = kindOfColumn(column.options.type)
  return (
    kind ?? {
      problem: `has the column type ${describe(column.options.type)}, which cannot be stored: use one that TypeORM has on every database`,
    }
  )
}

const describe = (type: unknown): string => (typeof type === 'function' ? type.name : String(type))

const DEFAULT_LENGTH = 255
const UNBOUNDED = new Set<unknown>(['text', 'mediumtext', 'longtext'])

function maxLengthOf(column: ColumnArgs): number | undefined {
  if (UNBOUNDED.has(column.options.type)) return undefined
  return column.options.length === undefined ? DEFAULT_LENGTH : Number(column.options.length)
}

const enumNames = new WeakMap<DescEnum, EnumNames>()

/** Names and numbers of an enum; of two names for one number the first is stored. */
function enumNamesOf(desc: DescEnum): EnumNames {
  let names = enumNames.get(desc)
  if (names === undefined) {
    const nameOf = new Map<number, string>()
    for (const value of desc.values) if (!nameOf.has(value.number)) nameOf.set(value.number, value.name)
    names = { nameOf, numberOf: new Map(desc.values.map((value) => [value.name, value.number])) }
    enumNames.set(desc, names)
  }
  return names
}

const MODES: Readonly<Record<string, string>> = {
  createDate: 'use @CreateTime() instead of @CreateDateColumn()',
  updateDate: 'use @UpdateTime() instead of @UpdateDateColumn()',
  deleteDate: 'use @SoftDeletable() on the class instead of @DeleteDateColumn()',
  version: 'use @ETag() instead of @VersionColumn()',
  virtual: 'a virtual column cannot be stored',
}

function problemsOf(
  entity: object,
  property: string,
  column: ColumnArgs,
  field: Field | string,
  inMessage: DescField | undefined,
): string[] {
  const problems: string[] = []
  const mode = MODES[column.mode]
  if (mode !== undefined) return [`${property}: ${mode}`]
  problems.push(...unsupportedOptions(property, column), ...misnamed(property, column))
  if (typeof field === 'string') return [field]
  const designType: unknown = Reflect.getMetadata(
    'design:type',
    (entity as { prototype: object }).prototype,
    property,
  )
  const expected = expectedType(field.kind, designType, field.repeated)
  if (expected !== undefined)
    problems.push(
      `${property} is ${field.kind}${inMessage === undefined ? '' : ' in the message'}: declare it as ${expected}, not ${describe(designType)}`,
    )
  if (inMessage?.presence === 1 && inMessage.fieldKind !== 'message' && !field.nullable)
    problems.push(
      `${property} is optional in the message: its column has to be nullable, as in @Column({ nullable: true })`,
    )
  if (
    inMessage !== undefined &&
    inMessage.proto.proto3Optional !== true &&
    inMessage.fieldKind !== 'message' &&
    field.nullable
  )
    problems.push(
      `${property} is not optional in the message, so it cannot tell absent from empty: drop nullable, or write optional in the .proto`,
    )
  return problems
}

/** Options of TypeORM that our statements would silently pass over. */
function unsupportedOptions(property: string, { options }: ColumnArgs): string[] {
  const ignored = [
    ['transformer', options.transformer !== undefined],
    ['select: false', options.select === false],
    ['default', options.default !== undefined],
    ['array', options.array === true],
    ['generatedType', options.generatedType !== undefined],
  ] as const
  return ignored
    .filter(([, isSet]) => isSet)
    .map(
      ([name]) =>
        `${property}: the column option ${name} is not supported: drop it, or the column is not what it says`,
    )
}

/** Columns by which rows are told apart have to be the properties we look for, or nothing is told apart. */
const RESERVED: Readonly<Record<string, string>> = {
  account_id: 'accountId',
  delete_time: 'deleteTime',
  deleted_at: 'deleteTime',
  expire_time: 'expireTime',
}

function misnamed(property: string, { options }: ColumnArgs): string[] {
  const name = options.name ?? snakeCase(property)
  const expected = Object.hasOwn(RESERVED, name) ? RESERVED[name] : undefined
  return expected === undefined || expected === property
    ? []
    : [`${property}: the column ${name} has to be the property ${expected}, or the framework does not see it`]
}
