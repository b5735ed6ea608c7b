import { type FieldSpec, unspecifiedOf } from './field-spec.js'
import type { KeyType } from './field-types.js'
import type { ResourceNames } from './resource-names.js'

/** The parts of a new resource's .proto other than its fields. */
export interface ProtoContext {
  /** The package, such as `shop.v1`. */
  readonly package: string
  /** The domain, such as `shop.example.com`. */
  readonly domain: string
  readonly key: KeyType
  /** The parent of a nested resource. */
  readonly parent?:
    { readonly names: ResourceNames; readonly type: string; readonly pattern: string } | undefined
}

/** The first number of new fields, after the fields that every resource has. */
const FIRST = 5

/** Returns the lines of a field and of its enum, without indentation. */
export function fieldLines(
  { name, type, values, presence }: FieldSpec,
  number: number,
): { readonly field: string; readonly enumeration: readonly string[] } {
  const label = presence === 'optional' ? 'optional ' : ''
  const rule = presence === 'required' ? ' [(google.api.field_behavior) = REQUIRED]' : ''
  const enumeration =
    values.length === 0
      ? []
      : [
          `enum ${type.proto} {`,
          ...[unspecifiedOf(name), ...values].map((value, index) => `  ${value} = ${index};`),
          '}',
        ]
  return { field: `${label}${type.proto} ${name} = ${number}${rule};`, enumeration }
}

/** Returns the .proto of a new resource with its standard methods (AIP-131 to AIP-135). */
export function protoFile(names: ResourceNames, fields: readonly FieldSpec[], context: ProtoContext): string {
  const { type, snake, camels, camel } = names
  const { domain, parent } = context
  const parentPattern = parent === undefined ? '' : `${parent.pattern}/`
  const lines = fields.map((field, index) => fieldLines(field, FIRST + index))
  return `syntax = "proto3";

package ${context.package};

${importsOf(fields)}
message ${type} {
  option (google.api.resource) = {
    type: "${domain}/${type}"
    pattern: "${parentPattern}${camels}/{${snake}}"
    singular: "${camel}"
    plural: "${camels}"
  };

  // ${parentPattern}${camels}/{${snake}}
  string name = 1 [(google.api.field_behavior) = IDENTIFIER];
  google.protobuf.Timestamp create_time = 2 [(google.api.field_behavior) = OUTPUT_ONLY];
  google.protobuf.Timestamp update_time = 3 [(google.api.field_behavior) = OUTPUT_ONLY];
  string etag = 4;
${lines.map(({ field }) => `  ${field}\n`).join('')}${lines
    .filter(({ enumeration }) => enumeration.length > 0)
    .map(({ enumeration }) => `\n${enumeration.map((line) => `  ${line}\n`).join('')}`)
    .join('')}}

${serviceText(names, context)}
${requestsText(names, context)}`
}

const importsOf = (fields: readonly FieldSpec[]): string =>
  [
    ...new Set(
      [
        ...['ashlar/api/v1/annotations', 'google/api/annotations', 'google/api/field_behavior'],
        ...['google/api/resource', 'google/protobuf/empty', 'google/protobuf/field_mask'],
        'google/protobuf/timestamp',
      ].map((name) => `${name}.proto`),
    ),
    ...new Set(fields.flatMap(({ type }) => (type.imports === undefined ? [] : [type.imports]))),
  ]
    .filter((name, index, all) => all.indexOf(name) === index)
    .sort()
    .map((name) => `import "${name}";\n`)
    .join('')

/**
 * Returns a function that formats a method with its route and its rule.
 * @param resource - the resource in the rule.
 */
export const methodsOf =
  (resource: string) =>
  (verb: string, of: string, request: string, response: string, http: string): string =>
    `  rpc ${verb}${of}(${request}) returns (${response}) {
    option (google.api.http) = { ${http} };
    option (ashlar.api.v1.rule) = { verb: "${verb.toLowerCase()}", resource: "${resource}" };
  }
`

function serviceText({ type, types, snake, camels }: ResourceNames, { parent }: ProtoContext): string {
  const above = parent === undefined ? '' : `${parent.pattern.replaceAll(/\{[^}]*\}/g, '*')}/`
  const one = `${above}${camels}/*`
  const all = parent === undefined ? camels : `{parent=${above.slice(0, -1)}}/${camels}`
  const method = methodsOf(snake)
  return `service ${type}Service {
${[
  method('Get', type, `Get${type}Request`, type, `get: "/v1/{name=${one}}"`),
  method('List', types, `List${types}Request`, `List${types}Response`, `get: "/v1/${all}"`),
  method('Create', type, `Create${type}Request`, type, `post: "/v1/${all}", body: "${snake}"`),
  method(
    'Update',
    type,
    `Update${type}Request`,
    type,
    `patch: "/v1/{${snake}.name=${one}}", body: "${snake}"`,
  ),
  method('Delete', type, `Delete${type}Request`, 'google.protobuf.Empty', `delete: "/v1/{name=${one}}"`),
].join('')}}
`
}

function requestsText(
  { type, types, snake, snakes }: ResourceNames,
  { domain, key, parent }: ProtoContext,
): string {
  const named = `string name = 1 [
    (google.api.field_behavior) = REQUIRED,
    (google.api.resource_reference).type = "${domain}/${type}"
  ];`
  const parentLine =
    parent === undefined
      ? []
      : [
          `string parent = 1 [
    (google.api.field_behavior) = REQUIRED,
    (google.api.resource_reference).child_type = "${domain}/${type}"
  ];`,
        ]
  const after = parentLine.length
  const message = (name: string, fields: readonly string[]) =>
    `message ${name} {\n${fields.map((field) => `  ${field}\n`).join('')}}\n`
  const numbered = (fields: readonly string[]) =>
    fields.map((field, index) => `${field} = ${after + 1 + index};`)
  return [
    message(`Get${type}Request`, [named]),
    message(`List${types}Request`, [
      ...parentLine,
      ...numbered(['int32 page_size', 'string page_token', 'string filter', 'string order_by']),
    ]),
    message(`List${types}Response`, [`repeated ${type} ${snakes} = 1;`, 'string next_page_token = 2;']),
    message(`Create${type}Request`, [
      ...parentLine,
      `${type} ${snake} = ${after + 1} [(google.api.field_behavior) = REQUIRED];`,
      ...(key.generated !== undefined
        ? []
        : [
            `// The last part of the name.${key.property === 'string' ? ' Without it the server chooses one.' : ''}`,
            `string ${snake}_id = ${after + 2};`,
          ]),
    ]),
    message(`Update${type}Request`, [
      `${type} ${snake} = 1 [(google.api.field_behavior) = REQUIRED];`,
      'google.protobuf.FieldMask update_mask = 2;',
    ]),
    message(`Delete${type}Request`, [named, 'string etag = 2;']),
  ].join('\n')
}
