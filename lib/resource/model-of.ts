import { DefaultNamingStrategy, getMetadataArgsStorage } from 'typeorm'
import { strategyOf } from '../../decorators/columns/column-naming.js'
import { CREDENTIAL_PARTS } from '../../decorators/columns/secret-columns.js'
import { inheritedFacts, lineage, type EntityFacts } from '../../decorators/entity-facts.js'
import { internalOf } from '../../decorators/property-mapping.js'
import { tenantDeclared } from '../../decorators/tenant-scoped.js'
import { codeNames } from './code-names.js'
import {
  type DeclaredProblem,
  DeclarationError,
  inEntity,
  problem,
  type Problem,
  propertyProblem,
} from '../errors.js'
import { isDescriptor } from './messages/descriptor.js'
import { kindOf } from './kinds/kinds.js'
import { timestamp } from './kinds/timestamp.js'
import { checkValue } from './values/check-value.js'
import { type Conversions, conversionsOf, hasNoValue } from './values/conversions.js'
import { computing, readComputed } from './read-computed.js'
import { allEmbedded, columnsOf, definePaths, type Embedded } from './typeorm/embedded.js'
import type { Column, Columns, Field, Role } from './fields/field.js'
import { decoratorProblems } from './decorator-options.js'
import { isZero } from './defaults.js'
import { eventProblems, eventsModel } from './events-model.js'
import { reservedColumn, SOFT_DELETE_KEY } from './fields/column-names.js'
import { readFields } from './read-fields.js'
import { indexGroups } from './index-groups.js'
import { keyPartOf } from './keys/key-part.js'
import { resourceKeys } from './keys/resource-keys.js'
import type { FieldNames } from './fields/proto-names.js'
import { refuseOtherCopy } from './typeorm/other-copy.js'
import { oneofsOf } from './values/oneofs.js'
import { etagField } from './values/version-etag.js'
import { ownershipProblems } from './ownership.js'
import { typeOfClass } from './resource-type.js'
import type { CredentialField, EntityClass, ResourceModel, SecretField } from './resource-model.js'
import { searchModelOf } from './search/search-model.js'
import { listenerProblems, listenersOf } from './typeorm/declared-hooks.js'
import { internalProblems, internalTable } from './typeorm/internal-columns.js'
import { primaryProperties } from './typeorm/primary-properties.js'

const models = new WeakMap<object, ResourceModel>()

/**
 * Returns the model of a decorated entity, computed on the first call.
 * @throws DeclarationError with every mismatch between decorators, columns and message at once.
 */
export function resourceModel<E extends object>(entity: EntityClass<E>): ResourceModel<E> {
  let model = models.get(entity)
  if (model === undefined) models.set(entity, (model = build(entity)))
  return model as ResourceModel<E>
}

/** Returns true for a class decorated with `@Resource()`. */
export const isResource = (value: unknown): value is EntityClass<object> =>
  typeof value === 'function' && inheritedFacts(value).resource !== undefined

/** Reasons why a list request cannot name a field. */
const IS_TENANT = 'it is the tenant'
const IS_SERVER_SET = 'the server sets it, and it is not declared as filterable'
const IS_COMPUTED = 'it is computed from other fields'

function build(entity: EntityClass<object>): ResourceModel {
  refuseOtherCopy(entity)
  const declared = inheritedFacts(entity)
  const problems = decoratorProblems(declared.calls)
  if (problems.length === 0) return modelFrom(entity, declared)
  throw new DeclarationError(entity.name, [
    ...inEntity(entity, problems),
    ...otherProblems(entity, declared, problems),
  ])
}

/** Returns the problems of a class that are not caused by invalid decorator options. */
function otherProblems(
  entity: EntityClass<object>,
  declared: EntityFacts,
  ofDecorators: readonly Problem[],
): readonly DeclaredProblem[] {
  const wrong = new Set(ofDecorators.map(({ property }) => property))
  const decorators = ofDecorators.flatMap(({ rule }) => /@\w+/.exec(rule) ?? [])
  // Invalid options of the class may affect each of its properties.
  if (wrong.has(undefined) && !isReadable(declared.resource)) return []
  try {
    modelFrom(entity, declared)
    return []
  } catch (error) {
    if (!(error instanceof DeclarationError)) return []
    return error.values.filter(
      (one) =>
        (!wrong.has((one as Problem).property) || one.kind === 'entity') &&
        !decorators.some((name) => one.text.includes(name)),
    )
  }
}

/** Returns true if the options of `@Resource()` that are needed to read the class are valid. */
const isReadable = (options: EntityFacts['resource']): boolean =>
  (options?.message === undefined || isDescriptor('message', options.message)) &&
  (options?.naming === undefined || options.naming === 'snake' || strategyOf(options.naming) !== undefined)

function modelFrom(entity: EntityClass<object>, declared: EntityFacts): ResourceModel {
  const marked = internalOf(declared.properties)
  const message = declared.resource?.message
  const tables = getMetadataArgsStorage().tables.filter(({ target }) => target === entity)
  const [declaredTable] = tables
  const strategy = strategyOf(declared.resource?.naming)
  const table = (strategy ?? new DefaultNamingStrategy()).tableName(entity.name, declaredTable?.name)
  if (declared.resource === undefined)
    throw new DeclarationError(
      entity.name,
      inEntity(entity, [problem('entity', 'it is not a resource', 'write @Resource() above the class')]),
    )
  const first = readFields(entity, withoutProperties(declared, marked), message, marked)
  const internal = new Set([...marked, ...first.unmanaged])
  const facts = withoutProperties(declared, internal)
  const { fields, embedded, name, names, relations, problems, refused, versionEtag } =
    first.unmanaged.size === 0 ? first : readFields(entity, facts, message, internal)
  const all = [
    ...problems,
    ...internalProblems(entity, declared),
    ...ownershipProblems(entity, facts, tenantDeclared(entity), fields, message),
  ]
  if (declaredTable === undefined)
    all.push(problem('entity', 'it is not a TypeORM entity', 'write @Entity() below @Resource()'))
  if (tables.length > 1)
    all.push(problem('entity', 'it is declared as an entity twice', 'keep one @Entity()'))

  const { oneofs, problems: ofOneofs } = oneofsOf(message, fields, names.inMessage)
  all.push(...ofOneofs)
  const secrets = secretsOf(facts, fields, names)
  const credentials = credentialsOf(facts, fields, names)
  const { computed: declaredAsComputed, problems: ofComputed } = readComputed(
    entity,
    facts,
    message,
    names,
    name?.field,
  )
  all.push(...ofComputed)
  const computed =
    versionEtag === undefined ? declaredAsComputed : [...declaredAsComputed, etagField(versionEtag)]
  const keys = fields.filter((field) => field.role === 'key')
  all.push(...structuralProblems(fields, keys, names, [...secrets, ...credentials], refused))
  const maskable = [...fields.filter(({ role }) => role !== 'secret' && role !== 'credential'), ...secrets]
  const ofCode = codeNames(
    maskable.map(({ property }) => property),
    names,
    relations,
  )
  all.push(...ofCode.problems)
  const search = searchModelOf(facts, fields, message, table, entity.name)
  all.push(...search.problems)
  const listeners = listenersOf(entity)
  all.push(...listenerProblems(listeners, { softDeletable: facts.softDeletable === true }))
  const groups = indexGroups(entity, fields, relations, refused, internal, declared.resource.existing)
  if (facts.softDeletable === true && groups.uniques.length > 0)
    all.push(...reservedColumn(fields, SOFT_DELETE_KEY, 'what distinguishes deleted rows from live rows'))
  if (search.model?.strategy === 'INDEXED')
    all.push(...reservedColumn(fields, 'search_vector', 'the searched words'))
  all.push(...groups.problems, ...eventProblems(facts.emits, message))
  const key = keys[0]
  if (key === undefined || all.length > 0) throw new DeclarationError(entity.name, inEntity(entity, all))

  definePaths(entity.prototype as object, embedded)
  const messages = allEmbedded(embedded).filter(
    ({ inMessage }) => message === undefined || inMessage !== undefined,
  )
  const byProperty = new Map(fields.map((field) => [field.property, field]))
  const entityFields = fields.filter((field) => field.role !== 'secret' && field.role !== 'credential')
  const byProto = new Map(entityFields.map((field) => [field.proto, field]))
  const withRole = (role: Role) => fields.find((field) => field.role === role)
  const tenant = withRole('tenant')
  const type = declared.resource.type ?? typeOfClass(entity.name)
  const create = computing(entity, computed)
  const defaulted = entityFields.filter(
    (field) => (field.default !== undefined || field.isFilledByTable === true) && !field.nullable,
  )
  const { toMessage, write, outputs, fromMessage } =
    message === undefined
      ? withoutMessage(entity)
      : conversionsOf(
          message,
          names.inMessage,
          create,
          entityFields,
          computed,
          new Set([...secrets, ...credentials].map(({ property }) => property)),
          name,
          oneofs,
          embedded,
        )

  return Object.freeze({
    entity,
    type,
    table,
    declaredTable: {
      name: declaredTable?.name,
      schema: declaredTable?.schema || undefined,
      database: declaredTable?.database || undefined,
    },
    shape: declared.resource.shape ?? 'gorm',
    strategy,
    message,
    fields,
    entityFields,
    byProperty,
    byProto,
    key,
    keys: resourceKeys([key]),
    name,
    tenant,
    tenantPart: tenant && keyPartOf(tenant),
    tenantInKey:
      tenant !== undefined &&
      (facts.tenantScoped === true || declared.resource.existing === true) &&
      key.isIdentity !== true &&
      isPrimary(entity, tenant),
    existing: declared.resource.existing === true,
    isChangedByTable: fields.some(({ generated, onUpdate }) => generated === true || onUpdate !== undefined),
    isFilledByTable: fields.some((field) => field.isFilledByTable === true),
    etag: withRole('etag'),
    versionEtag,
    version: withRole('version'),
    createTime: withRole('createTime'),
    updateTime: withRole('updateTime'),
    deleteTime: withRole('deleteTime'),
    expireTime: withRole('expireTime'),
    ttlMs: facts.expirable?.ttlMs,
    columns: columnMap(entityFields.filter((field) => field.filterable)),
    closed: new Map([
      ...entityFields
        .filter(({ filterable, exposed }) => !filterable && exposed)
        .map((field): [string, string] => [field.proto, field === tenant ? IS_TENANT : IS_SERVER_SET]),
      ...computed.filter(({ exposed }) => exposed).map(({ proto }): [string, string] => [proto, IS_COMPUTED]),
      ...(name === undefined ? [] : [[name.field.name, `it is computed from ${key.proto}`] as const]),
      ...messages.map(({ proto }) => [proto, `it is a message: name one of its fields`] as const),
    ]),
    predicateColumns: columnMap(entityFields.filter(({ transformed }) => transformed === undefined)),
    jsonColumns: columnMap(entityFields.filter((field) => field.filterable && kindOf(field).hasKeys)),
    writable: new Set(
      [...entityFields.filter((field) => field.writable), ...secrets, ...messages.filter(isWritable)].map(
        ({ proto }) => proto,
      ),
    ),
    required: message === undefined ? [] : entityFields.filter(isRequired),
    codeNames: ofCode.names,
    hasFreeForm: entityFields.some(({ json }) => json?.shape !== undefined),
    secrets,
    credentials,
    oneofs,
    embedded,
    computed,
    search: search.model,
    relations,
    uniques: groups.uniques,
    indexes: groups.indexes,
    internal: onceCalled(() => internalTable(entity, internal, fields, groups.internal, strategy)),
    events: facts.emits && eventsModel(facts.emits, { type, message, entityFields, toMessage }),
    listeners,
    create,
    toMessage,
    write,
    outputs,
    fromMessage,
    leaveToDefaults(made: object) {
      const values = made as Record<string, unknown>
      for (const { property } of defaulted) if (isZero(values[property])) values[property] = undefined
    },
    checkValues(values, properties) {
      for (const field of entityFields)
        if (properties === undefined || properties.includes(field.property))
          checkValue(field, (values as Record<string, unknown>)[field.property])
    },
  } satisfies ResourceModel)
}

const isWritable = (one: Embedded): boolean => columnsOf(one).some(({ writable }) => writable)

/** Returns true if a client must send a value: the column is NOT NULL and its kind has no zero value. */
const isRequired = (field: Field): boolean =>
  field.exposed && field.role === 'plain' && field.nullIsZero !== true && hasNoValue(field)

const withoutProperties = (facts: EntityFacts, left: ReadonlySet<string>): EntityFacts =>
  left.size === 0
    ? facts
    : { ...facts, properties: new Map([...facts.properties].filter(([name]) => !left.has(name))) }

const onceCalled = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}

/** Returns the conversions of a resource without a message, which only application code reads. */
function withoutMessage<E extends object>(entity: EntityClass<E>): Conversions<E> {
  const refuse = (): never => {
    throw new TypeError(`${entity.name} has no message: write @Resource({ message: ... }) to serve it`)
  }
  return { toMessage: refuse, write: refuse, outputs: [], fromMessage: refuse }
}

/** Returns true if the property is part of the declared primary key. Used with a TypeORM naming strategy. */
const isPrimary = (entity: object, { property }: Field): boolean =>
  primaryProperties(new Set(lineage(entity))).has(property)

/**
 * Builds the columns as an object without a prototype, so that `constructor` and `__proto__` are not columns.
 */
function columnMap(fields: readonly Field[]): Columns {
  return Object.freeze(
    Object.assign(
      Object.create(null) as Record<string, Column>,
      Object.fromEntries(fields.map((field) => [field.proto, field])),
    ),
  )
}

function secretsOf(facts: EntityFacts, fields: readonly Field[], { protoOf }: FieldNames): SecretField[] {
  return declaredAs('secret', facts).map((property) => ({
    property,
    proto: protoOf(property),
    hash: part(fields, property, 'hash'),
    cipher: part(fields, property, 'cipher'),
  }))
}

function credentialsOf(
  facts: EntityFacts,
  fields: readonly Field[],
  { protoOf }: FieldNames,
): CredentialField[] {
  return declaredAs('credential', facts).map((property) => {
    const [publicId, salt, hash, hashspec] = CREDENTIAL_PARTS.map((name) => part(fields, property, name)) as [
      Field,
      Field,
      Field,
      Field,
    ]
    return { property, proto: protoOf(property), publicId, salt, hash, hashspec }
  })
}

const declaredAs = (role: 'secret' | 'credential', facts: EntityFacts): string[] =>
  [...facts.properties].filter(([, { role: declared }]) => declared === role).map(([property]) => property)

const part = (fields: readonly Field[], property: string, name: string): Field =>
  fields.find((field) => field.property === `${property}_${name}`) as Field

/** The decorators that create the framework's time columns, by role. */
const KEPT_TIMES = { deleteTime: '@SoftDeletable()', expireTime: '@Expirable()' } as const

function structuralProblems(
  fields: readonly Field[],
  keys: readonly Field[],
  { inMessage: fieldOf }: FieldNames,
  secretive: readonly { property: string; proto: string }[],
  refused: ReadonlySet<string>,
): Problem[] {
  const problems: Problem[] = []
  const isKeyRefused = keys.length === 0 && refused.size > 0
  const [key] = keys
  if (!isKeyRefused && keys.length !== 1)
    problems.push(
      problem(
        'entity',
        'it must have exactly one key besides its tenant',
        'declare it with @PrimaryColumn() id!: string (or name)',
      ),
    )
  else if (key !== undefined && kindOf(key).key === undefined)
    problems.push(
      propertyProblem(
        'entity',
        key.property,
        `${key.property} is ${key.kind}, which cannot be a key`,
        `a key is a string, a uuid or an integer, as in @PrimaryColumn('uuid') ${key.property}!: string`,
      ),
    )
  for (const [role, decorator] of Object.entries(KEPT_TIMES))
    for (const field of fields)
      if (field.role === role && (field.kind !== timestamp.name || !field.nullable))
        problems.push(
          propertyProblem(
            'entity',
            field.property,
            `${field.property} is a time that no row has at first`,
            `write ${decorator} below @Resource() instead of its column`,
          ),
        )
  for (const role of ['etag', 'version', 'createTime', 'updateTime'] as const)
    if (fields.filter((field) => field.role === role).length > 1)
      problems.push(problem('entity', `two properties are declared as ${role}`, 'keep one'))
  for (const { property, proto } of secretive) {
    const inMessage = fieldOf.get(property)
    if (inMessage?.oneof !== undefined)
      problems.push(
        propertyProblem(
          'entity',
          property,
          `${property} is a secret or credential, and its field ${proto} is in the oneof ${inMessage.oneof.name}`,
          'move it out of the oneof',
        ),
      )
    else if (inMessage !== undefined && (inMessage.fieldKind !== 'scalar' || inMessage.scalar !== 9))
      problems.push(
        propertyProblem(
          'entity',
          property,
          `${property} is a secret or credential, so ${proto} must be a string in the message`,
        ),
      )
  }
  return problems
}
