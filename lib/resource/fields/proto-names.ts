import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { fieldsByProperty, namedFields } from '../../../decorators/columns/fields-by-property.js'
import type { PropertyFacts } from '../../../decorators/entity-facts.js'
import { type Problem, propertyProblem } from '../../errors.js'
import { misspelt } from '../../text/misspelt.js'
import { snakeCase } from '../../text/snake-case.js'
import type { Field, Role } from './field.js'

/** The proto names of an entity's properties. */
export interface FieldNames {
  /** The message's fields, by property. Properties that no message shows are omitted. */
  readonly inMessage: ReadonlyMap<string, DescField>
  /** Returns the proto name of a property, in snake_case unless it is declared. */
  readonly protoOf: (property: string) => string
}

/** A relation whose key column is not declared as a property. */
interface HiddenReference {
  /** The relation's property. */
  readonly relation: string
  /** The name that its key would have as a property. */
  readonly reference: string
}

/**
 * Returns the proto names of an entity's properties.
 * @param hidden - relations without a declared key property. Their `@ProtoField()` names the field that shows
 *   the relation, or the field that contains its key.
 * @param internal - properties without a field.
 * @param columns - properties with a column.
 */
export function fieldNames(
  message: DescMessage | undefined,
  properties: ReadonlyMap<string, PropertyFacts>,
  hidden: readonly HiddenReference[],
  internal: ReadonlySet<string>,
  columns: Iterable<string>,
): FieldNames {
  const named = namedFields(properties)
  const fieldNamed = (name: string) => message?.fields.find((field) => field.name === name)
  for (const { relation, reference } of hidden) {
    const name = named.get(relation)
    if (name === undefined) continue
    const field = fieldNamed(name)
    const isKey = field !== undefined && field.message === undefined
    if (isKey) named.set(relation, name.replace(/_id$/, ''))
    if (isKey || message === undefined || fieldNamed(`${name}_id`) !== undefined)
      named.set(reference, isKey ? name : `${name}_id`)
  }
  const declared = new Set([...columns, ...properties.keys()])
  const inMessage = fieldsByProperty(message?.fields ?? [], named, declared)
  for (const property of internal) inMessage.delete(property)
  return {
    inMessage,
    protoOf: (property) => inMessage.get(property)?.name ?? named.get(property) ?? snakeCase(property),
  }
}

/** The roles of fields with well-known names (AIP-148, AIP-154). */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['account_id', 'tenant'],
  ['etag', 'etag'],
  ['create_time', 'createTime'],
  ['update_time', 'updateTime'],
  ['delete_time', 'deleteTime'],
  ['expire_time', 'expireTime'],
])

/** The advice to use the decorator that gives a property the role. */
const DECORATED: Readonly<Partial<Record<Role, string>>> = {
  tenant: 'write @TenantColumn() beside it',
  etag: 'write @ETag() instead of @Column()',
  createTime: 'write @CreateTime() instead of @Column()',
  updateTime: 'write @UpdateTime() instead of @Column()',
}

/**
 * Returns the problems of `@ProtoField()`.
 * @param stored - the kind of a property's column; undefined if it is invalid.
 * @param declared - true for a property without a column that has another purpose, such as a secret.
 * @param relations - the relations, whose name in filters need not be a field.
 */
export function* protoFieldProblems(
  message: DescMessage | undefined,
  properties: ReadonlyMap<string, PropertyFacts>,
  stored: (property: string) => Field | undefined,
  declared: (property: string) => boolean,
  relations: ReadonlySet<string>,
): Generator<Problem> {
  const known = new Map<string, string>()
  for (const [property, { protoField: name, role }] of properties) {
    if (name === undefined) continue
    const wrong = (rule: string, advice?: string) => propertyProblem('message', property, rule, advice)
    const said = `${property}: @ProtoField(${JSON.stringify(name)})`
    if (typeof name !== 'string' || !FIELD_NAME.test(name)) {
      yield wrong(
        `${property}: @ProtoField() takes the name of a field as in the .proto`,
        "such as @ProtoField('create_time')",
      )
      continue
    }
    const other = known.get(name)
    known.set(name, property)
    const held = stored(property)
    if (other !== undefined && (relations.has(property) || relations.has(other)))
      yield wrong(`${said}: ${other} is already the field ${name}`, 'keep one of them')
    else if (
      message !== undefined &&
      !relations.has(property) &&
      !message.fields.some((field) => field.name === name)
    )
      yield wrong(
        `${said}: ${misspelt(
          name,
          message.typeName,
          message.fields.map((one) => one.name),
        )}`,
      )
    else if (held === undefined) {
      if (!declared(property) && !relations.has(property))
        yield wrong(`${said} is not on a column`, 'add @Column()')
    } else yield* roleProblems(held, name, role === 'outputOnly', wrong)
  }
}

const FIELD_NAME = /^[A-Za-z_]\w*$/

function* roleProblems(
  { property, role }: Field,
  name: string,
  isSetByCode: boolean,
  wrong: (rule: string, advice?: string) => Problem,
): Generator<Problem> {
  const wanted = ROLES.get(name)
  if (wanted === undefined || wanted === role || (isSetByCode && wanted !== 'tenant')) return
  const isKept = role === 'key' || [...ROLES.values()].includes(role)
  yield wrong(
    `${property} is the field ${name}, which holds the ${NAMED[wanted] ?? ''}${isKept ? `, but it is the ${NAMED[role] ?? role}` : ''}`,
    isKept
      ? 'name another field'
      : `${DECORATED[wanted] ?? ''}${wanted === 'tenant' ? '' : ', or add @OutputOnly() if your code sets it'}`,
  )
}

const NAMED: Readonly<Partial<Record<Role, string>>> = {
  key: 'key',
  tenant: 'tenant',
  etag: 'etag',
  createTime: 'create time',
  updateTime: 'update time',
  deleteTime: 'delete time',
  expireTime: 'expire time',
}
