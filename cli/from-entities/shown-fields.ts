import { snakeCase } from '../../lib/text/snake-case.js'
import { camelOf, pascalOf } from '../generate/words.js'
import type { ClassDescriptions } from './decorated-source.js'
import { type ColumnArgs, designType, type EmbeddedFacts, type EntityFacts } from './entity-classes.js'
import { secretWord } from './secret-words.js'

/** The user's choices. */
export interface Choices {
  /** The property that contains the tenant; undefined without tenants. */
  readonly tenant: string | undefined
  /** Properties to show although their name indicates a secret, as `Class.property`. */
  readonly show: ReadonlySet<string>
  readonly descriptions: ClassDescriptions | undefined
}

/** A field in an entity's message. */
export interface ShownField {
  readonly name: string
  readonly property: string
  /** The proto type, such as `string` or `google.protobuf.Timestamp`, or the name of `enumeration`. */
  readonly type: string
  readonly isList: boolean
  readonly isOptional: boolean
  readonly behaviors: readonly ('OUTPUT_ONLY' | 'IMMUTABLE' | 'REQUIRED')[]
  /** The labels of an enum as stored in the column. */
  readonly enumeration: readonly string[] | undefined
  readonly comment: string | undefined
  /** The fields of an embedded class, whose message is named by `type`. */
  readonly members?: readonly ShownField[]
}

/** A property without a field. */
export interface LeftOut {
  readonly property: string
  readonly reason: string
}

/** The message of an entity, with the columns that can be shown. */
export interface ShownEntity {
  readonly facts: EntityFacts
  readonly description: string | undefined
  /** The name of the message and of the resource. */
  readonly name: string
  readonly key: ShownField
  /** True if the database or the repository generates the key of a new row. */
  readonly isKeyGenerated: boolean
  readonly fields: readonly ShownField[]
  readonly leftOut: readonly LeftOut[]
  /** The columns that a new row needs but no client can send. */
  readonly unfilled: readonly string[]
  readonly isSoftDeletable: boolean
}

/** The reason why a class gets no resource. */
export type Refusal = string

export function shownEntity(facts: EntityFacts, choices: Choices): ShownEntity | Refusal {
  const { columns, generated, relations, embedded } = facts
  const keys = columns.filter(
    ({ options, propertyName }) => options.primary === true && propertyName !== choices.tenant,
  )
  const [key] = keys
  if (key === undefined) return 'it has no primary key of its own'
  if (keys.length > 1)
    return `it has a composite key (${keys.map(({ propertyName }) => propertyName).join(', ')}), and a resource needs one`
  const keyField = fieldOf(key, facts, choices)
  if (typeof keyField === 'string') return `its key ${key.propertyName} cannot be a field: ${keyField}`
  const keyType = key.options.type ?? designType(key)
  if (![TEXTS, INT32, INT64].some((types) => types.has(keyType)))
    return `its key ${key.propertyName} must be a string, a UUID or an integer`
  const fields = new Map(namesIn(keyField).map((name) => [name, keyField]))
  const leftOut: LeftOut[] = []
  const unfilled: string[] = []
  for (const column of columns) {
    if (column === key) continue
    const { propertyName } = column
    if (propertyName === choices.tenant) continue
    const field = fieldOf(column, facts, choices)
    const names = typeof field === 'string' ? [] : namesIn(field)
    const taken = names.find((name) => fields.has(name))
    const reason =
      typeof field === 'string'
        ? field
        : taken === undefined
          ? undefined
          : `the field ${taken} is already used by ${fields.get(taken)?.property}`
    if (typeof field !== 'string' && reason === undefined) for (const name of names) fields.set(name, field)
    else {
      leftOut.push({ property: propertyName, reason: reason as string })
      if (isNeeded(column)) unfilled.push(propertyName)
    }
  }
  for (const { propertyName, options } of relations) {
    if (facts.references.has(propertyName)) continue
    leftOut.push({ property: propertyName, reason: 'a relation, which is not a field' })
    if (facts.owners.has(propertyName) && options.nullable === false) unfilled.push(propertyName)
  }
  for (const one of embedded) {
    const field = embeddedField(one, facts.name, choices)
    const taken = typeof field === 'string' ? undefined : namesIn(field).find((name) => fields.has(name))
    if (typeof field !== 'string' && taken === undefined)
      for (const name of namesIn(field)) fields.set(name, field)
    else {
      const used = `the field ${taken} is already used by ${fields.get(taken ?? '')?.property}`
      leftOut.push({ property: one.property, reason: typeof field === 'string' ? field : used })
      if (needsValue(one.type)) unfilled.push(one.property)
    }
  }
  const isUuid = key.options.type === 'uuid'
  return {
    facts,
    description: choices.descriptions?.description,
    name: resourceName(facts.name),
    key: keyField,
    isKeyGenerated: generated.has(key.propertyName) || isUuid,
    fields: [...new Set(fields.values())],
    leftOut,
    unfilled,
    isSoftDeletable: columns.some(
      ({ mode, options }) => mode === 'deleteDate' && (options.precision ?? MILLISECONDS) >= MILLISECONDS,
    ),
  }
}

/** The precision in digits that timestamps need for Undelete. */
const MILLISECONDS = 3

/** Returns the resource name of an entity: `OrderEntity` becomes `Order`. */
export const resourceName = (entity: string): string =>
  entity.length > 'Entity'.length ? entity.replace(/Entity$/, '') : entity

/** Returns true if the key has a type whose trailing spaces PostgreSQL ignores in comparisons. */
export const hasPaddedKey = ({ columns }: EntityFacts): boolean =>
  columns.some(({ options }) => options.primary === true && PADDED.has(options.type))

const PADDED = new Set<unknown>(['char', 'character', 'nchar'])

/**
 * Returns true if an INSERT without the column fails. A column that TypeORM does not write is filled by the
 * table.
 */
const isNeeded = ({ mode, options }: ColumnArgs): boolean =>
  mode === 'regular' &&
  options.insert !== false &&
  options.nullable !== true &&
  options.default === undefined &&
  options.asExpression === undefined &&
  options.generated === undefined

/** Returns the field of a column, or the reason why it has none. */
function fieldOf(column: ColumnArgs, facts: EntityFacts, choices: Choices): ShownField | string {
  const { mode, options, propertyName } = column
  const name = snakeCase(propertyName)
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return 'its name cannot be a field name'
  const isKey = options.primary === true
  const isShown = choices.show.has(`${facts.name}.${propertyName}`)
  if (options.select === false) return 'select: false'
  const type = typeIn(column)
  if (typeof type === 'string') return type
  const word = secretWord(propertyName)
  const isSecret =
    word !== undefined &&
    !isKey &&
    ![...facts.references.values()].includes(propertyName) &&
    !['bool', 'google.protobuf.Timestamp'].includes(type.type)
  if (isSecret && !isShown)
    return `its name contains "${word}": --show ${facts.name}.${propertyName} shows it`
  const isOptional = options.nullable === true && !type.isList && !type.type.startsWith('google.')
  const isWritten = mode === 'regular' && options.insert !== false && options.asExpression === undefined
  const isSet = facts.generated.has(propertyName) && !isKey
  const canBeMissed = type.type === 'string' || type.type === 'bytes' || type.type.startsWith('google.')
  return {
    ...type,
    name,
    property: propertyName,
    isOptional,
    behaviors: isKey
      ? []
      : [
          ...(!isWritten || isSet ? (['OUTPUT_ONLY'] as const) : []),
          ...(isWritten && options.update === false ? (['IMMUTABLE'] as const) : []),
          ...(isWritten && isNeeded(column) && canBeMissed && !type.isList ? (['REQUIRED'] as const) : []),
        ],
    comment: options.comment ?? choices.descriptions?.properties.get(propertyName),
  }
}

/** Returns the field of an embedded class, or the reason why it has none. */
function embeddedField(
  { property, isArray, hasMore, type }: EmbeddedFacts,
  path: string,
  choices: Choices,
): ShownField | string {
  const name = snakeCase(property)
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return 'its name cannot be a field name'
  if (isArray) return 'a list of an embedded class'
  if (hasMore) return `${type.name} has more than plain columns`
  const facts = { ...type, name: `${path}.${property}` }
  const inside = { ...choices, descriptions: undefined }
  const members: ShownField[] = []
  const parts = [
    ...type.columns.map((one) => [one.propertyName, fieldOf(one, facts, inside)] as const),
    ...type.embedded.map((one) => [one.property, embeddedField(one, facts.name, inside)] as const),
  ]
  const taken = new Set<string>()
  for (const [part, field] of parts) {
    if (typeof field === 'string') return `${part}: ${field}`
    const names = namesIn(field)
    if (![field.name, camelOf(field.name)].includes(part))
      return `${part}: its field would need @ProtoField('${field.name}')`
    if (names.some((one) => taken.has(one))) return `${part}: two properties have the same field name`
    for (const one of names) taken.add(one)
    members.push(field)
  }
  return {
    name,
    property,
    type: pascalOf(name),
    isList: false,
    isOptional: false,
    behaviors: needsValue(type) ? ['REQUIRED'] : [],
    enumeration: undefined,
    comment: choices.descriptions?.properties.get(property),
    members,
  }
}

/** Returns true if a new row needs a value in the embedded class. */
const needsValue = ({ columns, embedded }: EntityFacts): boolean =>
  columns.some(isNeeded) || embedded.some(({ type }) => needsValue(type))

type FieldType = Pick<ShownField, 'type' | 'isList' | 'enumeration'>

const TIMESTAMP = 'google.protobuf.Timestamp'
const TEXTS = new Set<unknown>([
  ...['varchar', 'character varying', 'varchar2', 'nvarchar', 'char', 'character', 'nchar', 'text'],
  ...['tinytext', 'mediumtext', 'longtext', 'uuid', 'string', String],
])
const INT32 = new Set<unknown>([
  ...['int', 'integer', 'int4', 'int2', 'smallint', 'mediumint', 'tinyint', 'year', 'serial', Number],
])
const INT64 = new Set<unknown>(['bigint', 'int8', 'bigserial'])
const DOUBLE = new Set<unknown>(['double precision', 'double', 'float8', 'float'])
const FLOAT = new Set<unknown>(['real', 'float4'])
const DECIMAL = new Set<unknown>(['decimal', 'numeric', 'dec', 'fixed', 'number'])
const BOOL = new Set<unknown>(['boolean', 'bool', Boolean])
const BYTES = new Set<unknown>([
  'bytea',
  'blob',
  'tinyblob',
  'mediumblob',
  'longblob',
  'binary',
  'varbinary',
  Buffer,
])
const TIMES = new Set<unknown>([
  ...[
    'timestamp',
    'timestamptz',
    'timestamp with time zone',
    'timestamp without time zone',
    'datetime',
    Date,
  ],
])
const JSON_TYPES = new Set<unknown>(['json', 'jsonb', 'simple-json'])

/** Returns the field type of a column, or the reason why it has none. */
function typeIn(column: ColumnArgs): FieldType | string {
  const { mode, options } = column
  const design = designType(column)
  const one = (type: string): FieldType => ({ type, isList: false, enumeration: undefined })
  if (mode === 'createDate' || mode === 'updateDate' || mode === 'deleteDate') return one(TIMESTAMP)
  if (mode === 'version') return one('int32')
  if (mode !== 'regular') return `a column of the kind ${mode}`
  if (options.transformer !== undefined) {
    const type = new Map<unknown, string>([
      [String, 'string'],
      [Number, 'double'],
      [Boolean, 'bool'],
    ]).get(design)
    return type === undefined ? 'the return type of its transformer is unknown' : one(type)
  }
  const type = options.type ?? design
  if (options.enum !== undefined) return enumIn(column)
  if (type === 'simple-array') return { ...one('string'), isList: true }
  const scalar = scalarIn(type, design)
  if (scalar === undefined)
    return `a column of the type ${typeof type === 'function' ? type.name : String(type)}, for which no field exists`
  return options.array === true ? { ...one(scalar), isList: true } : one(scalar)
}

function scalarIn(type: unknown, design: unknown): string | undefined {
  if (BOOL.has(type) || (type === 'tinyint' && design === Boolean)) return 'bool'
  if (TEXTS.has(type)) return 'string'
  if (INT64.has(type)) return 'int64'
  if (INT32.has(type)) return 'int32'
  if (DOUBLE.has(type)) return 'double'
  if (FLOAT.has(type)) return 'float'
  if (DECIMAL.has(type)) return design === Number ? 'double' : 'string'
  if (BYTES.has(type)) return 'bytes'
  if (TIMES.has(type)) return TIMESTAMP
  if (type === 'date') return design === Date ? undefined : 'string'
  return JSON_TYPES.has(type) ? 'google.protobuf.Value' : undefined
}

/**
 * Returns the names that a field uses in its message: its own, its JSON name, and those of its enum's values.
 */
const namesIn = ({ name, type, enumeration }: ShownField): readonly string[] => [
  ...[name, camelOf(name)],
  ...(enumeration ?? []).map((label) => `${labelName(type)}_${labelName(label)}`),
]

/** Returns an enum with a value for each label (AIP-126). */
function enumIn({ options, propertyName }: ColumnArgs): FieldType | string {
  const given = options.enum ?? []
  const labels = (Array.isArray(given) ? given : Object.values(given as object)).map(String)
  const values = labels.map(labelName)
  const odd = labels.find((_, at) => !/^(?!UNSPECIFIED$)[A-Z0-9_]+$/.test(values[at] ?? ''))
  if (odd !== undefined) return `its label ${JSON.stringify(odd)} cannot be the name of an enum value`
  if (new Set(values.map((one) => one.replaceAll('_', ''))).size < values.length)
    return 'two of its labels differ only in case or punctuation'
  return {
    type: pascalOf(snakeCase(propertyName)),
    isList: options.array === true,
    enumeration: labels,
  }
}

/** Converts `in progress` to `IN_PROGRESS`. */
export const labelName = (label: string): string =>
  snakeCase(label)
    .replaceAll(/[\s-]+/g, '_')
    .toUpperCase()
