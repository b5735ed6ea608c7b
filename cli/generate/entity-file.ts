import type { FieldSpec } from './field-spec.js'
import { KEY_TYPES, type KeyType } from './field-types.js'
import type { ResourceNames } from './resource-names.js'
import { camelOf } from './words.js'

export interface EntityContext {
  /** The path of the generated code from the entity's folder, such as `../gen/shop/v1/task_pb.js`. */
  readonly generated: string
  readonly key: KeyType
  readonly parent?:
    { readonly names: ResourceNames; readonly key: KeyType; readonly pattern: string } | undefined
}

/** Returns the source of a new resource's entity. */
export function entityFile(
  names: ResourceNames,
  fields: readonly FieldSpec[],
  context: EntityContext,
): string {
  const { type, snakes, camels, snake } = names
  const { parent, generated, key } = context
  const pattern = `${parent === undefined ? '' : `${parent.pattern}/`}${camels}/{${snake}}`
  const enums = fields.filter(isEnum).map((field) => `, type ${enumOf(type, field)}`)
  const typeorm = [
    'Column',
    'Entity',
    ...(parent === undefined ? [] : ['JoinColumn', 'ManyToOne']),
    key.generated === undefined ? 'PrimaryColumn' : 'PrimaryGeneratedColumn',
    ...(parent === undefined ? [] : ['type Relation']),
  ]
  const parentImport =
    parent === undefined
      ? ''
      : `import { ${parent.names.type} } from '../${parent.names.folder}/${parent.names.file}.js'\n`
  const reference =
    parent === undefined
      ? ''
      : `  @Column(${parent.key.column}) ${parent.names.camel}Id!: ${parent.key.property}
  /** There is no ${words(names)} without its ${words(parent.names)}, and one that has some is not deleted. */
  @ManyToOne(() => ${parent.names.type}, { nullable: false })
  @JoinColumn({ name: '${parent.names.snake}_id' })
  ${parent.names.camel}?: Relation<${parent.names.type}>
`
  return `import { CreateTime, ETag, Resource, TenantScoped, UpdateTime } from 'ashlar/decorators'
import { ${typeorm.join(', ')} } from 'typeorm'
import { ${type}Schema${enums.join('')} } from '${generated}'
${parentImport}
/** \`${pattern}\` */
@Resource({ message: ${type}Schema })
@Entity('${snakes}')
@TenantScoped()
export class ${type} {
  ${keyLine(key)}
${reference}${fields.map((field) => `  ${propertyLine(type, field)}\n`).join('')}  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string

  accountId!: string
}
`
}

const keyLine = ({ generated, column, property }: KeyType): string =>
  `${generated === undefined ? `@PrimaryColumn(${column})` : `@PrimaryGeneratedColumn(${generated})`} id!: ${property}`

/** Returns the key type in an entity's source; a string if it is not recognized. */
export function keyIn(text: string): KeyType {
  const [, generated, declared = '', property] =
    /@Primary(Generated)?Column\(([^)]*)\)\s*(?:readonly )?id!?: (string|number|bigint)\b/.exec(text) ?? []
  const { string, uuid, int64 } = KEY_TYPES
  if (property === undefined) return string
  const isIdentity = generated !== undefined && !declared.includes('uuid')
  const column =
    generated === undefined ? declared : `'${/uuid|bigint|smallint/.exec(declared)?.[0] ?? 'int'}'`
  const isNumber = property !== 'string' || column.includes('int')
  const { sample } = isNumber ? int64 : /uuid|binary/.test(column) ? uuid : string
  return { property, column, sample, ...(isIdentity && { generated: declared }) }
}

const words = ({ snake }: ResourceNames): string => snake.replaceAll('_', ' ')

const isEnum = ({ values }: FieldSpec): boolean => values.length > 0

const enumOf = (type: string, field: FieldSpec): string => `${type}_${field.type.property}`

export function propertyLine(entity: string, field: FieldSpec): string {
  const { name, type, presence } = field
  const options = [
    ...(type.column === '' ? [] : [type.column]),
    ...(presence === 'optional'
      ? [...(type.column === '' ? typeOf(type.property) : []), 'nullable: true']
      : []),
  ]
  const column = options.length === 0 ? '@Column()' : `@Column({ ${options.join(', ')} })`
  const property = isEnum(field) ? enumOf(entity, field) : type.property
  return `${column} ${camelOf(name)}${presence === 'optional' ? '?' : '!'}: ${property}`
}

/** Returns the `type` option for an optional property, whose type the compiler does not emit. */
const typeOf = (property: string): readonly string[] =>
  property === 'number' ? ['type: Number'] : property === 'bigint' ? ["type: 'bigint'"] : []

/**
 * Adds properties to an entity's source, before those that the server sets or at the end of the class.
 * Undefined if the class is not found.
 */
export function withProperties(
  text: string,
  entity: string,
  fields: readonly FieldSpec[],
  generated: string,
): string | undefined {
  const lines = text.split('\n')
  const body = bodyOf(lines, entity)
  if (body === undefined) return undefined
  const serverSet = lines.findIndex(
    (line, index) =>
      index > body.start && index < body.end && /^\s*@(CreateTime|UpdateTime|ETag)\(/.test(line),
  )
  lines.splice(
    serverSet === -1 ? body.end : serverSet,
    0,
    ...fields.map((field) => `  ${propertyLine(entity, field)}`),
  )
  const enums = fields.filter(isEnum).map((field) => enumOf(entity, field))
  if (enums.length > 0) {
    const last = lines.findLastIndex((line) => /^(import\b.*|\}) from '.*'|^import '/.test(line))
    lines.splice(last + 1, 0, `import type { ${enums.join(', ')} } from '${generated}'`)
  }
  return lines.join('\n')
}

/** Removes a property from an entity's source. Undefined if it is not found on separate lines. */
export function withoutProperty(text: string, entity: string, field: string): string | undefined {
  const lines = text.split('\n')
  const body = bodyOf(lines, entity)
  if (body === undefined) return undefined
  const at = lines.findIndex(
    (line, index) =>
      index > body.start &&
      index < body.end &&
      new RegExp(`^\\s*(@\\w+\\(.*\\)\\s*)*(readonly )?${camelOf(field)}[!?]?\\s*[:=]`).test(line),
  )
  if (at === -1) return undefined
  let first = at
  while (first - 1 > body.start && /^\s*(@\w+\(.*\)|\/\*\*.*\*\/|\/\/.*)\s*$/.test(lines[first - 1] ?? ''))
    first--
  lines.splice(first, at - first + 1)
  return lines.join('\n')
}

/** Returns the lines of a class between its braces, in the positions that formatters use. */
function bodyOf(
  lines: readonly string[],
  entity: string,
): { readonly start: number; readonly end: number } | undefined {
  const start = lines.findIndex((line) =>
    new RegExp(`^export (default )?class ${entity}\\b.*\\{\\s*$`).test(line),
  )
  const end = lines.findIndex((line, index) => index > start && /^\}/.test(line))
  return start === -1 || end === -1 ? undefined : { start, end }
}
