import { snakeCase } from '../../lib/text/snake-case.js'
import { methodsOf } from '../generate/proto-file.js'
import { camelOf, pascalOf, pluralOf } from '../generate/words.js'
import { labelName, type ShownEntity, type ShownField } from './shown-fields.js'

/** The names of a resource in its .proto. */
export interface EntityNames {
  readonly type: string
  readonly types: string
  readonly snake: string
  readonly snakes: string
  /** The collection in paths (AIP-122). */
  readonly collection: string
  /** The name of the .proto file without its extension. */
  readonly file: string
}

/**
 * Returns the names for a resource.
 * @param name - the resource, such as `LineItem`.
 */
export function namesOf(name: string): EntityNames {
  const snake = snakeCase(name)
  const snakes = pluralOf(snake)
  return {
    type: name,
    types: pascalOf(snakes),
    snake,
    snakes,
    collection: camelOf(snakes),
    file: snake,
  }
}

/** Returns the names of a resource's messages and service, which must be unique in the package. */
export const symbolsOf = ({ type, types }: EntityNames): readonly string[] => [
  ...[type, `${type}Service`, `List${types}Request`, `List${types}Response`],
  ...['Get', 'Create', 'Update', 'Delete', 'Undelete'].map((verb) => `${verb}${type}Request`),
]

/** The methods of a service. */
export interface Methods {
  readonly canCreate: boolean
  readonly isReadOnly: boolean
}

/**
 * Returns the .proto of an entity with the standard methods (AIP-131 to AIP-135).
 * @param numbers - the numbers of existing fields, which are kept.
 */
export function entityProto(
  shown: ShownEntity,
  methods: Methods,
  packageName: string,
  numbers: ReadonlyMap<string, number>,
): string {
  const names = namesOf(shown.name)
  return `syntax = "proto3";

package ${packageName};

${importsOf(shown, methods)}
${messageText(shown, names, numbers)}
${serviceText(shown, names, methods)}
${requestsText(shown, names, methods)}`
}

/**
 * Parses the field numbers of a message in a .proto file. Fields of nested messages are named by their path,
 * such as `Address.city`.
 */
export function fieldNumbers(text: string, message: string): ReadonlyMap<string, number> {
  const start = new RegExp(`^message ${message} \\{$`, 'm').exec(text)
  if (start === null) return new Map()
  const end = text.indexOf('\n}', start.index)
  const lines = text.slice(start.index, end === -1 ? undefined : end).split('\n')
  const numbers = new Map<string, number>()
  const within: string[] = []
  for (const line of lines.slice(1)) {
    const [, block, name] = /^ *(message|enum|oneof|extend) (\w+) \{/.exec(line) ?? []
    const [, field, number] = /^ *(?:optional |repeated )?[\w.]+ (\w+) = (\d+)/.exec(line) ?? []
    if (name !== undefined) within.push(block === 'oneof' ? '' : `${name}.`)
    else if (/^ *\}/.test(line)) within.pop()
    else if (field !== undefined) numbers.set(`${within.join('')}${field}`, Number(number))
  }
  return numbers
}

/** Returns the fields with those of their nested messages. */
const allFields = (fields: readonly ShownField[]): readonly ShownField[] =>
  fields.flatMap((field) => [field, ...allFields(field.members ?? [])])

function importsOf(shown: ShownEntity, { isReadOnly }: Methods): string {
  const fields = allFields(shown.fields)
  return [
    ...new Set([
      ...['ashlar/api/v1/annotations', 'google/api/annotations'],
      ...(isReadOnly
        ? []
        : ['google/api/field_behavior', 'google/protobuf/empty', 'google/protobuf/field_mask']),
      ...(fields.some(({ behaviors }) => behaviors.length > 0) ? ['google/api/field_behavior'] : []),
      ...(fields.some(({ type }) => type.endsWith('.Timestamp')) ? ['google/protobuf/timestamp'] : []),
      ...(fields.some(({ type }) => type.endsWith('.Value')) ? ['google/protobuf/struct'] : []),
    ]),
  ]
    .sort()
    .map((name) => `import "${name}.proto";\n`)
    .join('')
}

function messageText(
  { fields, facts, description }: ShownEntity,
  { type }: EntityNames,
  numbers: ReadonlyMap<string, number>,
): string {
  return `// ${oneLine(description ?? `${facts.name} as clients see it.`)}
message ${type} {
${bodyText(fields, numbers, '')}}
`
}

/** @param path - the nested messages around the fields, such as `Address.`. */
function bodyText(fields: readonly ShownField[], numbers: ReadonlyMap<string, number>, path: string): string {
  const known = [...numbers].filter(
    ([name]) => name.startsWith(path) && !name.slice(path.length).includes('.'),
  )
  let next = Math.max(0, ...known.map(([, number]) => number))
  const lines = fields.map((field) => fieldText(field, numbers.get(`${path}${field.name}`) ?? ++next))
  const nested = fields.flatMap((field) => {
    if (field.enumeration !== undefined) return [`\n${enumText(field)}`]
    if (field.members === undefined) return []
    const body = bodyText(field.members, numbers, `${path}${field.type}.`).replaceAll(/^(?=.)/gm, '  ')
    return [`\n  message ${field.type} {\n${body}  }\n`]
  })
  return `${lines.join('')}${nested.join('')}`
}

/** Removes line breaks, which would end a comment. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

function fieldText(
  { name, type, isList, isOptional, behaviors, comment }: ShownField,
  number: number,
): string {
  const label = isList ? 'repeated ' : isOptional ? 'optional ' : ''
  const options = behaviors.map((one) => `(google.api.field_behavior) = ${one}`).join(', ')
  const said = comment === undefined ? '' : `  // ${oneLine(comment)}\n`
  return `${said}  ${label}${type} ${name} = ${number}${options === '' ? '' : ` [${options}]`};\n`
}

function enumText({ type, enumeration = [] }: ShownField): string {
  const prefix = labelName(type)
  const value = (label: string, number: number) => `    ${prefix}_${label} = ${number};\n`
  return `  enum ${type} {
${value('UNSPECIFIED', 0)}${enumeration.map((label, at) => value(labelName(label), at + 1)).join('')}  }
`
}

function serviceText(
  { key, isSoftDeletable }: ShownEntity,
  { type, types, snake, collection }: EntityNames,
  { canCreate, isReadOnly }: Methods,
): string {
  const method = methodsOf(snake)
  const one = `/v1/${collection}/{id}`
  const writes = [
    ...(canCreate
      ? [method('Create', type, `Create${type}Request`, type, `post: "/v1/${collection}", body: "${snake}"`)]
      : []),
    method(
      'Update',
      type,
      `Update${type}Request`,
      type,
      `patch: "/v1/${collection}/{${snake}.${key.name}}", body: "${snake}"`,
    ),
    method('Delete', type, `Delete${type}Request`, 'google.protobuf.Empty', `delete: "${one}"`),
    ...(isSoftDeletable
      ? [method('Undelete', type, `Undelete${type}Request`, type, `post: "${one}:undelete", body: "*"`)]
      : []),
  ]
  return `service ${type}Service {
${[
  method('Get', type, `Get${type}Request`, type, `get: "${one}"`),
  method('List', types, `List${types}Request`, `List${types}Response`, `get: "/v1/${collection}"`),
  ...(isReadOnly ? [] : writes),
].join('')}}
`
}

function requestsText(
  { key, isKeyGenerated, isSoftDeletable }: ShownEntity,
  { type, types, snake, snakes }: EntityNames,
  { canCreate, isReadOnly }: Methods,
): string {
  const message = (name: string, fields: readonly string[]) =>
    `message ${name} {\n${fields.map((field, at) => `  ${field.replace('#', String(at + 1))};\n`).join('')}}\n`
  const id = `${key.type} id = #`
  const required = '[(google.api.field_behavior) = REQUIRED]'
  return [
    message(`Get${type}Request`, [id]),
    message(`List${types}Request`, [
      ...['int32 page_size = #', 'string page_token = #', 'string filter = #', 'string order_by = #'],
      ...(isSoftDeletable ? ['bool show_deleted = #'] : []),
    ]),
    message(`List${types}Response`, [`repeated ${type} ${snakes} = #`, 'string next_page_token = #']),
    ...(isReadOnly
      ? []
      : [
          ...(canCreate
            ? [
                message(`Create${type}Request`, [
                  `${type} ${snake} = # ${required}`,
                  ...(isKeyGenerated ? [] : [`${key.type} ${snake}_id = #`]),
                ]),
              ]
            : []),
          message(`Update${type}Request`, [
            `${type} ${snake} = # ${required}`,
            'google.protobuf.FieldMask update_mask = #',
          ]),
          message(`Delete${type}Request`, [id]),
          ...(isSoftDeletable ? [message(`Undelete${type}Request`, [id])] : []),
        ]),
  ].join('\n')
}
