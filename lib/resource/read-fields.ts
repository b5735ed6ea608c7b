import { type Problem, propertyProblem } from '../errors.js'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { randomUUID } from 'node:crypto'
import { type ColumnType, DefaultNamingStrategy, getMetadataArgsStorage } from 'typeorm'
import { ColumnNames, hiddenProperty, strategyOf } from '../../decorators/columns/column-naming.js'
import { namedFields } from '../../decorators/columns/fields-by-property.js'
import { secretColumns } from '../../decorators/columns/secret-columns.js'
import { referenceColumns, withTypeOfKey } from '../../decorators/relations/reference-columns.js'
import {
  inheritedFacts,
  lineage,
  type EntityFacts,
  type PropertyFacts,
} from '../../decorators/entity-facts.js'
import {
  isWithoutTenants,
  OF_CLASSES,
  tenantDeclared,
  type TenantDeclaration,
} from '../../decorators/tenant-scoped.js'
import type { EntityClass } from './resource-model.js'
import {
  defaultOf,
  generatedProblems,
  identityProblems,
  strayDefault,
  strayGenerated,
  tableSetProblems,
} from './defaults.js'
import type { EnumType } from './enums/enum-names.js'
import type { Field, Role } from './fields/field.js'
import { unstorableType } from './fields/column-type.js'
import { columnNameProblems, fieldNameProblems, misnamedColumn } from './fields/column-names.js'
import {
  columnsOf,
  type DeclaredColumn,
  type Embedded,
  embeddedsOf,
  readEmbedded,
} from './typeorm/embedded.js'
import { fieldProblems } from './fields/field-problems.js'
import { namingProblems, textListProblem } from './fields/naming-problems.js'
import { formProblems } from './fields/property-form.js'
import { columnEffects, effectProblems } from './fields/column-effects.js'
import { transformersOf } from './kinds/managed.js'
import { transformedBy } from './fields/transformed.js'
import { renameProblems } from './fields/renamed-columns.js'
import { hasStorableZero } from './fields/storable-zero.js'
import { declaredClass, kindOfColumn, kindOfMessageField, kindOfProperty } from './kinds/declared-kind.js'
import { type DeclaredPart, facetsOf } from './facets/facets.js'
import { isTextList } from './facets/list-form.js'
import type { Facets } from './kinds/kind.js'
import { kindOf } from './kinds/kinds.js'
import { ENUM_TYPES, enumeration } from './kinds/text.js'
import { behaves } from './behavior/field-behavior.js'
import { fieldMarks } from './behavior/field-marks.js'
import { secretProblems } from './behavior/secret-problems.js'
import { insideOf } from './fields/members.js'
import { narrowWire } from './keys/on-the-wire.js'
import { type FieldNames, fieldNames, protoFieldProblems } from './fields/proto-names.js'
import { hasNoValue } from './values/conversions.js'
import { type VersionEtag, versionEtagOf, versionEtagProblems } from './values/version-etag.js'
import { missingFields } from './missing-fields.js'
import { type NamePattern, namePatternOf } from './names/name-pattern.js'
import { resourceAnnotation } from './names/resource-annotation.js'
import { declaredRelations, relationsOf } from './relations/declared-relations.js'
import type { Relation } from './relations/relation.js'
import { primaryProperties } from './typeorm/primary-properties.js'
import { typeormProblems } from './typeorm/problems.js'
import { unmanagedProperties } from './typeorm/unmanaged.js'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

/** The result of reading one entity: its fields in column order, and all problems. */
export interface FieldReading {
  readonly fields: readonly Field[]
  readonly embedded: readonly Embedded[]
  /** The name pattern of entities; undefined if there is none. */
  readonly name: NamePattern | undefined
  readonly names: FieldNames
  readonly relations: readonly Relation[]
  readonly problems: readonly Problem[]
  /** Properties for which a problem was already reported. */
  readonly refused: ReadonlySet<string>
  /** Properties that are not in the message and that Ashlar neither can nor needs to store. */
  readonly unmanaged: ReadonlySet<string>
  readonly versionEtag: VersionEtag | undefined
}

/**
 * Combines TypeORM's columns, Ashlar's decorators and the message into fields.
 * @param facts - the declarations, without internal properties.
 * @param internal - properties that only TypeORM manages.
 */
export function readFields(
  entity: EntityClass<object>,
  facts: EntityFacts,
  message: DescMessage | undefined,
  internal: ReadonlySet<string>,
): FieldReading {
  const embeddeds = embeddedsOf(entity, facts, message, internal)
  const { problems: declared, properties: refused } = typeormProblems(
    entity,
    facts,
    internal,
    new Set(embeddeds.keys()),
  )
  const problems = [...declared]
  const unfit = new Set(declared.flatMap(({ property }) => property ?? []))
  const classes = new Set<unknown>(lineage(entity))
  const columns = new Map<string, ColumnArgs>()
  for (const column of getMetadataArgsStorage().columns)
    if (classes.has(column.target) && !internal.has(column.propertyName))
      columns.set(column.propertyName, asDeclared(column, facts))
  const strategy = strategyOf(facts.resource?.naming)
  const columnNames = new ColumnNames(strategy)
  const tenant = tenantDeclared(entity)
  const references = referenceColumns(classes, tenant, columnNames, OF_CLASSES)
  for (const [property, column] of columns) {
    const options = withTypeOfKey(column.options, references.get(columnNames.of(column))?.column)
    if (options !== column.options) columns.set(property, { ...column, options })
  }
  const declaredOnes = declaredRelations(entity, new Set([...refused, ...internal]), columnNames)
  problems.push(...declaredOnes.problems)
  for (const { property } of declaredOnes.problems) if (property !== undefined) unfit.add(property)
  const made = new Map(declaredOnes.hidden.map((one) => [one.args.propertyName, one]))
  for (const [property, { args }] of made) if (!columns.has(property)) columns.set(property, args)
  const names = fieldNames(
    message,
    facts.properties,
    declaredOnes.relations.flatMap((one) =>
      'isHidden' in one && one.isHidden
        ? [{ relation: one.property, reference: hiddenProperty(one.property) }]
        : [],
    ),
    internal,
    columns.keys(),
  )
  const { inMessage, protoOf } = names
  const hidden = secretColumns(facts.properties)

  const read: Field[] = []
  for (const [property, column] of columns) {
    if (refused.has(property)) continue
    const found = problems.length
    const isOfTypeorm = strategy !== undefined || facts.resource?.existing === true
    const held = hidden.has(property) ? undefined : inMessage.get(property)
    const { type } = column.options
    if (isOfTypeorm && type === 'simple-array' && !isTextList(type, held)) {
      problems.push(textListProblem(property))
      unfit.add(property)
      continue
    }
    const ownField = hidden.has(property) ? undefined : inMessage.get(property)
    const role = hidden.get(property)?.role ?? roleOf(property, column, facts, ownField, tenant)
    const ofRelation = made.get(property)?.args === column ? made.get(property) : undefined
    const name = ofRelation?.name ?? columnNames.of(column)
    const { default: make, mintsUuid = false, mintsNumber } = facts.properties.get(property) ?? {}
    const part = {
      designType: ofRelation ? ofRelation.designType : classOf(entity, column, mintsNumber, ownField),
      isKeyPart: role === 'key' || role === 'tenant' || references.has(name),
    }
    const ofEnum = {
      enumLabels: facts.properties.get(property)?.enumLabels,
      enumType: enumTypeOf(entity, column, facts, name),
    }
    const named = { ...part, ...ofEnum, isOfTypeorm, name }
    const field = toField(property, column, role, facts, ownField, protoOf(property), named)
    if (!('rule' in field)) {
      if (mintsUuid) problems.push(...generatedProblems(field))
      problems.push(...tableSetProblems(field))
      if (mintsNumber === true) problems.push(...identityProblems(field))
      // The repository generates keys itself.
      const generated = mintsUuid && role !== 'key' ? randomUUID : undefined
      const initial =
        field.generated === true || (field.tableDefault !== undefined && make === undefined)
          ? undefined
          : defaultOf(field, column.options.default, make ?? generated)
      if (initial !== undefined && 'rule' in initial) problems.push(initial)
      read.push(
        Object.freeze({
          ...field,
          ...(initial !== undefined && 'make' in initial && { default: initial }),
          ...(mintsUuid && strategy !== undefined && { isGeneratedByDatabase: true as const }),
        }),
      )
    }
    if ('rule' in field) problems.push(field)
    else {
      const isExisting = facts.resource?.existing === true
      problems.push(...narrowWire(field, ownField))
      const isReference = references.has(name) && role !== 'tenant'
      problems.push(...effectProblems(field, column.options, ownField, { isReference, isExisting }))
      const isOfRelation = ofRelation !== undefined
      problems.push(...fieldProblems(field, column.options, ownField, { ...part, isOfRelation }, isExisting))
    }
    if (problems.length > found) unfit.add(property)
    problems.push(...misnamedColumn(property, name, field, tenant))
  }
  const embedded = [...embeddeds].flatMap(([property, args]): Embedded[] => {
    const found = readEmbedded(args, inMessage.get(property), protoOf(property), {
      strategy,
      report: (problem) => void problems.push(problem),
      check: (type) => {
        const own = { ...facts, properties: new Map<string, PropertyFacts>() }
        const inner = new Set(embeddedsOf(type, own, undefined, new Set()).keys())
        return typeormProblems(type, own, new Set(), inner).problems
      },
      missing: (inner, known) => missingFields(inner, [], known, new Set()),
      fieldOf: (one) => partOf(one, entity, facts, problems, strategy !== undefined),
    })
    return found === undefined ? [] : [found]
  })
  for (const one of embedded) read.push(...columnsOf(one))
  for (const [property, { role, default: make, mintsUuid, mintsNumber }] of facts.properties)
    if (make !== undefined && !columns.has(property)) problems.push(strayDefault(property, role))
    else if ((mintsUuid ?? mintsNumber) === true && !columns.has(property))
      problems.push(strayGenerated(property, mintsNumber))
  problems.push(...renameProblems(facts, columns, read))
  for (const wrong of namingProblems(facts, columns, read)) {
    problems.push(wrong)
    if (wrong.property !== undefined) unfit.add(wrong.property)
  }
  const { name, fields, problems: unnamed } = namePatternOf(message, read)
  problems.push(...unnamed)
  const { relations, problems: ofRelations } = relationsOf(declaredOnes.relations, fields, protoOf)
  const apart = decoratedOf(facts)
    .filter((property) => !columns.has(property))
    .map((property) => ({ property, proto: protoOf(property) }))
  problems.push(...ofRelations, ...columnNameProblems(read), ...fieldNameProblems([...read, ...apart]))
  const stored = new Map(read.map((field) => [field.property, field]))
  const other = new Set([...columns.keys(), ...embeddeds.keys(), ...decoratedOf(facts), ...refused])
  problems.push(
    ...protoFieldProblems(
      message,
      facts.properties,
      (property) => stored.get(property),
      (property) => other.has(property),
      new Set(relationsDeclared(classes).map(({ propertyName }) => propertyName)),
    ),
  )
  const properties = new Set([
    ...columns.keys(),
    ...secretive(facts),
    ...relations.map(({ property }) => property),
  ])
  for (const property of properties)
    if (!refused.has(property)) problems.push(...formProblems(entity, property))
  const readable = relations.flatMap(({ property }) =>
    inMessage.get(property)?.message === undefined ? [] : property,
  )
  const held = [
    // ownership.ts checks that a resource has an owner.
    ...(tenant.named.length === 0 && !isWithoutTenants(entity.name) ? ['accountId'] : []),
    ...namedFields(facts.properties).keys(),
    ...columns.keys(),
    ...embeddeds.keys(),
    ...refused,
    ...decoratedOf(facts),
    ...readable,
  ]
  const known = new Set([
    ...held.flatMap((property) => inMessage.get(property) ?? []),
    ...computedOf(message),
  ])
  const versionEtag = versionEtagOf(message, fields, (field) => known.has(field))
  if (versionEtag !== undefined) {
    known.add(versionEtag.field)
    problems.push(...versionEtagProblems(versionEtag, fields))
  }
  if (message !== undefined)
    problems.push(
      ...missingFields(message, fields, known, internal),
      ...secretProblems(message, { propertyOf: propertyOf(inMessage), columns, declared: facts.properties }),
    )
  for (const relation of declaredOnes.relations)
    if (isOutside(relation.target) || ('referenced' in relation && isElsewhere(relation)))
      unfit.add(relation.property)
  const unmanaged =
    message === undefined
      ? new Set<string>()
      : unmanagedProperties(unfit, { classes, facts, inMessage, columns, columnNames, references, tenant })
  const pathOf = new Map(embedded.flatMap(columnsOf).map((field) => [field.property, field.proto]))
  const named =
    pathOf.size === 0
      ? names
      : { ...names, protoOf: (property: string) => pathOf.get(property) ?? protoOf(property) }
  return { fields, embedded, name, names: named, relations, problems, refused, unmanaged, versionEtag }
}

/**
 * Returns true if a relation refers to a class that is not a resource. A class that is not loaded yet may be
 * one.
 */
function isOutside(target: () => object): boolean {
  try {
    return inheritedFacts(target()).resource === undefined
  } catch {
    return false
  }
}

/** Returns true if a relation refers to a column other than the key. */
function isElsewhere({
  referenced,
  target,
}: {
  readonly referenced: string | undefined
  readonly target: () => object
}): boolean {
  if (referenced === undefined) return false
  try {
    return !primaryProperties(new Set(lineage(target()))).has(referenced)
  } catch {
    return false
  }
}

/** Restores the declared type of a property if TypeORM was given another one. */
function asDeclared(column: ColumnArgs, facts: EntityFacts): ColumnArgs {
  const type = facts.properties.get(column.propertyName)?.type
  return type === undefined ? column : { ...column, options: { ...column.options, type: type as ColumnType } }
}

/** Returns the properties that are stored in columns of other names. */
const secretive = (facts: EntityFacts): string[] =>
  [...facts.properties].flatMap(([property, { role }]) =>
    role === 'secret' || role === 'credential' ? [property] : [],
  )

/** Returns the secrets, credentials and computed fields, which have no column of their own name. */
const decoratedOf = (facts: EntityFacts): string[] =>
  [...facts.properties].flatMap(([property, { role }]) =>
    role === 'secret' || role === 'credential' || role === 'computed' ? [property] : [],
  )

/** Returns the name field, which is computed if the resource has a name pattern. */
function computedOf(message: DescMessage | undefined): DescField[] {
  const { field, patterns = [] } = (message && resourceAnnotation(message)) ?? {}
  return field === undefined || patterns.length === 0 ? [] : [field]
}

/** Returns a function that finds the property of a message field, or the name that it would have. */
function propertyOf(inMessage: ReadonlyMap<string, DescField>): (field: DescField) => string {
  const properties = new Map([...inMessage].map(([property, field]) => [field, property]))
  return (field) => properties.get(field) ?? field.localName
}

const relationsDeclared = (classes: ReadonlySet<unknown>) =>
  getMetadataArgsStorage().relations.filter(({ target }) => classes.has(target))

/**
 * Returns the type that TypeORM creates for an enum column of an existing table, on engines that have enum
 * types.
 */
function enumTypeOf(
  entity: EntityClass<object>,
  { options: { type, enumName } }: ColumnArgs,
  { resource }: EntityFacts,
  column: string,
): EnumType | undefined {
  if (resource?.existing !== true || !ENUM_TYPES.has(type)) return undefined
  const classes = new Set<unknown>(lineage(entity))
  const table = getMetadataArgsStorage().tables.find(({ target }) => classes.has(target))
  const strategy = strategyOf(resource.naming) ?? new DefaultNamingStrategy()
  const name = strategy.tableName(entity.name, table?.name)
  const [own = '', schema = table?.schema] = (enumName ?? `${name}_${column.toLowerCase()}_enum`)
    .split('.')
    .toReversed()
  return { schema, name: own }
}

const classOf = (
  { prototype }: EntityClass<object>,
  { propertyName, options }: ColumnArgs,
  mintsNumber: boolean | undefined,
  inMessage: DescField | undefined,
): unknown => {
  // For an enum, `{ type: String }` states that the column contains names; the property is still a number.
  const isOfColumn = inMessage?.enum !== undefined && options.type === String
  return declaredClass(
    Reflect.getMetadata('design:type', prototype as object, propertyName),
    mintsNumber === true || isOfColumn ? undefined : options.type,
  )
}

function roleOf(
  property: string,
  column: ColumnArgs,
  facts: EntityFacts,
  inMessage: DescField | undefined,
  tenant: TenantDeclaration,
): Role {
  const { role: declared, protoField } = facts.properties.get(property) ?? {}
  if (property === tenant.property) return 'tenant'
  if (column.options.primary === true) return 'key'
  if (property === 'deleteTime' || protoField === 'delete_time') return 'deleteTime'
  if (property === 'expireTime' || protoField === 'expire_time') return 'expireTime'
  if (declared === 'tags') return 'plain'
  if (declared !== undefined && declared !== 'computed') return declared
  return inMessage !== undefined && behaves(inMessage, 'OUTPUT_ONLY') ? 'outputOnly' : 'plain'
}

/** Returns the field of an embedded class's column. */
function partOf(
  { column, proto, name, designType, inMessage, enumLabels, isOptional, isOutputOnly }: DeclaredColumn,
  entity: EntityClass<object>,
  facts: EntityFacts,
  problems: Problem[],
  isNamedByTypeorm: boolean,
): Field | undefined {
  const { propertyName: property, options } = column
  const isExisting = facts.resource?.existing === true
  const part = {
    designType: declaredClass(designType, options.type),
    isKeyPart: false,
    isEmbedded: true,
    enumLabels,
    enumType: enumTypeOf(entity, column, facts, name),
    isOfTypeorm: isNamedByTypeorm || isExisting,
  }
  const isServerSet = isOutputOnly || (inMessage !== undefined && behaves(inMessage, 'OUTPUT_ONLY'))
  const role = isServerSet ? 'outputOnly' : 'plain'
  const field = toField(property, column, role, facts, inMessage, proto, { ...part, name })
  if ('rule' in field) {
    problems.push(field)
    return undefined
  }
  problems.push(
    ...tableSetProblems(field),
    ...narrowWire(field, inMessage),
    ...effectProblems(field, options, inMessage, { isReference: false, isExisting }),
    ...fieldProblems(field, options, inMessage, { ...part, isOfRelation: false }, isExisting),
  )
  const initial = field.tableDefault === undefined ? defaultOf(field, options.default, undefined) : undefined
  if (initial !== undefined && 'rule' in initial) problems.push(initial)
  const made = { ...field, ...(initial !== undefined && 'make' in initial && { default: initial }) }
  if (isOptional && hasNoValue(made))
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is in a message that may be unset, but its column is NOT NULL without a zero value`,
        'make it nullable, or make the field of the message REQUIRED',
      ),
    )
  return Object.freeze(made)
}

/**
 * Returns the kind of a property whose column has a different type. If it is undefined because the type is
 * unknown, neither type is checked.
 */
const heldKindOf = (inMessage: DescField | undefined, designType: unknown) =>
  inMessage === undefined ? kindOfColumn(designType, undefined) : kindOfMessageField(inMessage)

function toField(
  property: string,
  column: ColumnArgs,
  role: Role,
  facts: EntityFacts,
  inMessage: DescField | undefined,
  proto: string,
  {
    name,
    isEmbedded = false,
    ...part
  }: DeclaredPart & { readonly name: string; readonly isEmbedded?: boolean },
): Field | Problem {
  const isTags = facts.properties.get(property)?.role === 'tags'
  const { type, array: isArray, unsigned: isUnsigned = false } = column.options
  const transformers = transformersOf(column.options)
  const isTransformed = transformers !== undefined
  const heldKind = isTransformed ? heldKindOf(inMessage, part.designType) : undefined
  if (typeof heldKind === 'object')
    return propertyProblem('column', property, `${property} ${heldKind.problem}`)
  const kind = isTransformed
    ? ENUM_TYPES.has(type)
      ? enumeration.name
      : kindOfColumn(type, undefined)
    : kindOfProperty({ isTags, type, isArray, isUnsigned, inMessage, ...part })
  if (typeof kind !== 'string')
    return propertyProblem('column', property, `${property} ${kind?.problem ?? unstorableType(type)}`)
  const facet = facts.properties.get(property)
  const exposed =
    inMessage !== undefined ||
    (facts.resource?.message === undefined && role !== 'secret' && role !== 'credential')
  const marks = inMessage && fieldMarks(inMessage)
  const inputOnly = inMessage !== undefined && behaves(inMessage, 'INPUT_ONLY')
  const hidden =
    inputOnly ||
    marks?.isSecret === true ||
    column.options.select === false ||
    role === 'secret' ||
    role === 'credential'
  const optedIn = facet?.filterable === true || marks?.isFilterable === true
  const { isNested } = kindOf({ kind })
  const inside = isNested && inMessage !== undefined && !isTransformed ? insideOf(inMessage, name) : undefined
  const comparable = exposed && !hidden && (!isNested || inside !== undefined)
  const filterable = comparable && !isTransformed && (role === 'plain' || role === 'key' || optedIn)
  const isNullable = column.options.nullable === true
  const isExisting = facts.resource?.existing === true
  const isOpen = role === 'plain' || role === 'outputOnly'
  const mayBeLong = isExisting && !part.isKeyPart && isOpen
  const nullIsZero =
    isExisting &&
    isNullable &&
    !isEmbedded &&
    !part.isKeyPart &&
    hasStorableZero(heldKind ?? kind, role, inMessage)
  // No call reaches a row of an existing table that has no tenant.
  const nullable = isNullable && !nullIsZero && !(isExisting && role === 'tenant')
  const isShared = isExisting || facts.resource?.naming !== undefined
  const otherFormats = !isShared ? undefined : role === 'key' || role === 'tenant' ? 'read' : 'written'
  const { asExpression, collation, generatedType } = column.options
  const { held: heldForm, ...facets } = facetsOf(
    kind,
    isTransformed ? undefined : inMessage,
    column.options,
    {
      ...part,
      ...(isTransformed && { isTransformed, designType: String }),
      ...{ isExisting, mayBeLong, otherFormats },
    },
  )
  const held = heldKind && {
    ...{ property, proto, kind: heldKind, nullable },
    ...facetsOf(heldKind, inMessage, { type: 'text' }, { ...part, isKeyPart: false }),
  }
  return Object.freeze({
    property,
    proto,
    column: name,
    kind,
    nullable,
    role,
    filterable,
    writable: exposed && role === 'plain' && column.options.update !== false,
    exposed,
    ...facets,
    // Ashlar itself sets the other fields, as the kind's own values.
    ...(isOpen && heldForm && { held: heldForm }),
    ...(transformers !== undefined && { transformed: transformedBy(transformers, facets as Facets, held) }),
    ...(facet?.generated !== true && columnEffects(role, column)),
    ...(facet?.renamedFrom === undefined ? {} : { renamedFrom: facet.renamedFrom }),
    ...(isExisting && collation !== undefined && { collation }),
    ...(nullIsZero && { nullIsZero }),
    ...(facet?.generated === true && { generated: true as const }),
    ...(asExpression !== undefined && {
      expression: { sql: asExpression, isStored: generatedType === 'STORED' },
    }),
    ...(role === 'key' && facet?.mintsNumber === true ? { isIdentity: true as const } : {}),
    ...inside,
    ...(inside?.elements !== undefined && facets.list !== undefined && { elements: facets.list.element }),
  })
}
