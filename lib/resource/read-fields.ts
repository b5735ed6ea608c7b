import { type Problem, propertyProblem } from '../errors.js'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { randomUUID } from 'node:crypto'
import { type ColumnType, getMetadataArgsStorage } from 'typeorm'
import { CREDENTIAL_PARTS } from '../../decorators/credential.js'
import { referenceColumns } from '../../decorators/relations/reference-columns.js'
import { lineage, type EntityFacts } from '../../decorators/entity-facts.js'
import { snakeCase } from '../text/snake-case.js'
import type { EntityClass } from './resource-model.js'
import { defaultOf, generatedProblems, strayDefault, strayGenerated } from './defaults.js'
import type { Field, Role } from './fields/field.js'
import { describeType, typeProblems, unstorableType } from './fields/column-type.js'
import { columnNameProblems, fieldNameProblems } from './fields/column-names.js'
import { formProblems } from './fields/property-form.js'
import { expectedType, kindOfProperty } from './kinds/declared-kind.js'
import { type DeclaredPart, facetsOf } from './kinds/facets.js'
import { kindOf } from './kinds/kinds.js'
import { behaves } from './behavior/field-behavior.js'
import { fieldMarks } from './behavior/field-marks.js'
import { secretProblems } from './behavior/secret-problems.js'
import { insideOf } from './fields/members.js'
import { narrowWire } from './keys/on-the-wire.js'
import { missingFields } from './missing-fields.js'
import { type NamePattern, namePatternOf } from './names/name-pattern.js'
import { resourceAnnotation } from './names/resource-annotation.js'
import { declaredRelations, relationsOf } from './relations/declared-relations.js'
import type { Relation } from './relations/relation.js'
import { typeormProblems } from './typeorm/problems.js'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

/** The result of reading one entity: its fields in column order, and all problems. */
export interface FieldReading {
  readonly fields: readonly Field[]
  /** How entities are named; undefined where no pattern says it. */
  readonly name: NamePattern | undefined
  readonly relations: readonly Relation[]
  readonly problems: readonly Problem[]
  /** Properties that are already refused as a whole. */
  readonly refused: ReadonlySet<string>
}

/** Joins TypeORM's columns, our decorators and the message into fields. */
export function readFields(
  entity: EntityClass<object>,
  facts: EntityFacts,
  message: DescMessage | undefined,
): FieldReading {
  const { problems: declared, properties: refused } = typeormProblems(entity)
  const problems = [...declared]
  const classes = new Set<unknown>(lineage(entity))
  const columns = new Map<string, ColumnArgs>()
  for (const column of getMetadataArgsStorage().columns)
    if (classes.has(column.target)) columns.set(column.propertyName, asDeclared(column, facts))
  const declaredOnes = declaredRelations(entity, refused)
  problems.push(...declaredOnes.problems)
  for (const column of declaredOnes.hidden)
    if (!columns.has(column.propertyName)) columns.set(column.propertyName, column)
  const inMessage = new Map((message?.fields ?? []).map((field) => [field.localName, field]))
  const hidden = hiddenColumns(facts)
  const references = referenceColumns(classes)

  const read: Field[] = []
  for (const [property, column] of columns) {
    if (refused.has(property)) continue
    const role = hidden.get(property) ?? roleOf(property, column, facts, inMessage.get(property))
    const designType = designTypeOf(entity, property)
    const field = toField(
      property,
      column,
      role,
      facts,
      hidden.has(property) ? undefined : inMessage.get(property),
      { designType, isKeyPart: role === 'key' || references.has(column.options.name ?? snakeCase(property)) },
    )
    if (!('rule' in field)) {
      const { default: make, mintsUuid = false } = facts.properties.get(property) ?? {}
      if (mintsUuid) problems.push(...generatedProblems(field))
      // The repository mints keys anyway.
      const minted = mintsUuid && role !== 'key' ? randomUUID : undefined
      const initial = defaultOf(field, column.options.default, make ?? minted)
      if (initial !== undefined && 'rule' in initial) problems.push(initial)
      read.push(
        initial !== undefined && 'make' in initial ? Object.freeze({ ...field, default: initial }) : field,
      )
    }
    problems.push(...problemsOf(property, column, field, inMessage.get(property), designType))
  }
  for (const [property, { role, default: make, mintsUuid }] of facts.properties)
    if (make !== undefined && !columns.has(property)) problems.push(strayDefault(property, role))
    else if (mintsUuid === true && !columns.has(property)) problems.push(strayGenerated(property))
  problems.push(...renameProblems(facts, columns, read))
  const { name, fields, problems: unnamed } = namePatternOf(message, read)
  problems.push(...unnamed)
  const { relations, problems: unfit } = relationsOf(declaredOnes.relations, fields)
  problems.push(...unfit, ...columnNameProblems(read), ...fieldNameProblems(read))
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
  const known = new Set([
    ...columns.keys(),
    ...refused,
    ...decoratedOf(facts),
    ...readable,
    ...computedOf(message),
  ])
  if (message !== undefined)
    problems.push(
      ...missingFields(message, fields, known),
      ...secretProblems(message, { columns, declared: facts.properties }),
    )
  return { fields, name, relations, problems, refused }
}

/** What is wrong with `@RenamedFrom()`. */
function renameProblems(
  { properties }: EntityFacts,
  columns: ReadonlyMap<string, unknown>,
  fields: readonly Field[],
): Problem[] {
  return [...properties].flatMap(([property, { renamedFrom }]): Problem[] => {
    if (renamedFrom === undefined) return []
    if (typeof renamedFrom !== 'string' || renamedFrom === '')
      return [
        propertyProblem(
          'column',
          property,
          `${property}: @RenamedFrom() takes the old name of the column, such as @RenamedFrom('title')`,
        ),
      ]
    if (!columns.has(property))
      return [
        propertyProblem(
          'column',
          property,
          `${property} has a @RenamedFrom() and no column of its own`,
          'add @Column()',
        ),
      ]
    const owner = fields.find(({ column }) => column === renamedFrom)
    return owner === undefined
      ? []
      : [
          propertyProblem(
            'column',
            property,
            `${property}: @RenamedFrom(${JSON.stringify(renamedFrom)}) names the column of ${owner.property}`,
            'a column that is still declared is not renamed',
          ),
        ]
  })
}

/** Restores the class of its property when TypeORM was given another type. */
function asDeclared(column: ColumnArgs, facts: EntityFacts): ColumnArgs {
  const type = facts.properties.get(column.propertyName)?.type
  return type === undefined ? column : { ...column, options: { ...column.options, type: type as ColumnType } }
}

/** Properties that are stored in columns of other names. */
const secretive = (facts: EntityFacts): string[] =>
  [...facts.properties].flatMap(([property, { role }]) =>
    role === 'secret' || role === 'credential' ? [property] : [],
  )

/** Secrets, credentials and computed fields have no column of their own name. */
const decoratedOf = (facts: EntityFacts): string[] =>
  [...facts.properties].flatMap(([property, { role }]) =>
    role === 'secret' || role === 'credential' || role === 'computed' ? [property] : [],
  )

/** A name is computed. */
function computedOf(message: DescMessage | undefined): string[] {
  const { field, patterns = [] } = (message && resourceAnnotation(message)) ?? {}
  return field === undefined || patterns.length === 0 ? [] : [field.localName]
}

const designTypeOf = ({ prototype }: EntityClass<object>, property: string): unknown =>
  Reflect.getMetadata('design:type', prototype as object, property)

/** The generated properties behind secrets and credentials. */
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
  if (declared !== undefined && declared !== 'computed') return declared
  return inMessage !== undefined && behaves(inMessage, 'OUTPUT_ONLY') ? 'outputOnly' : 'plain'
}

function toField(
  property: string,
  column: ColumnArgs,
  role: Role,
  facts: EntityFacts,
  inMessage: DescField | undefined,
  part: DeclaredPart,
): Field | Problem {
  const isTags = facts.properties.get(property)?.role === 'tags'
  const { type, unsigned: isUnsigned = false } = column.options
  const kind = kindOfProperty({ isTags, type, isUnsigned, inMessage, ...part })
  if (typeof kind !== 'string')
    return propertyProblem('column', property, `${property} ${kind?.problem ?? unstorableType(type)}`)
  const proto = inMessage?.name ?? snakeCase(property)
  const facet = facts.properties.get(property)
  const exposed =
    inMessage !== undefined ||
    (facts.resource?.message === undefined && role !== 'secret' && role !== 'credential')
  const marks = inMessage && fieldMarks(inMessage)
  const inputOnly = inMessage !== undefined && behaves(inMessage, 'INPUT_ONLY')
  const hidden = inputOnly || marks?.isSecret === true || role === 'secret' || role === 'credential'
  const optedIn = facet?.filterable === true || marks?.isFilterable === true
  const name = column.options.name ?? snakeCase(property)
  const { isNested } = kindOf({ kind })
  const inside = isNested && inMessage !== undefined ? insideOf(inMessage, name) : undefined
  const comparable = exposed && !hidden && (!isNested || inside !== undefined)
  const filterable = comparable && (role === 'plain' || role === 'key' || optedIn)
  const nullable = column.options.nullable === true
  return Object.freeze({
    property,
    proto,
    column: name,
    kind,
    nullable,
    role,
    filterable,
    writable: exposed && role === 'plain',
    exposed,
    ...facetsOf(kind, inMessage, column.options, part),
    ...(facet?.renamedFrom === undefined ? {} : { renamedFrom: facet.renamedFrom }),
    ...inside,
  })
}

function problemsOf(
  property: string,
  column: ColumnArgs,
  field: Field | Problem,
  inMessage: DescField | undefined,
  designType: unknown,
): Problem[] {
  const problems = misnamed(property, column)
  if ('rule' in field) return [...problems, field]
  problems.push(...typeProblems(property, column.options, field.kind))
  problems.push(...narrowWire(field, inMessage))
  const expected = field.hasDigits === true ? undefined : expectedType(field.kind, designType, field.repeated)
  if (expected !== undefined)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is ${field.kind}${inMessage === undefined ? '' : ' in the message'}`,
        `declare it as ${expected}, not ${describeType(designType)}`,
      ),
    )
  const tooLong = [...(field.enumNames?.numberOf.keys() ?? [])].find(
    (name) => name.length > (field.maxLength ?? Infinity),
  )
  if (tooLong !== undefined)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property}: ${tooLong} is longer than the ${field.maxLength ?? 0} characters of its column`,
      ),
    )
  if (inMessage?.presence === 1 && inMessage.fieldKind !== 'message' && !field.nullable)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is optional in the message`,
        'its column has to be nullable, as in @Column({ nullable: true })',
      ),
    )
  if (
    inMessage !== undefined &&
    inMessage.proto.proto3Optional !== true &&
    inMessage.fieldKind !== 'message' &&
    field.nullable
  )
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is not optional in the message, so it cannot tell absent from empty`,
        'drop nullable, or write optional in the .proto',
      ),
    )
  return problems
}

/** Columns that identify rows must be properties with these names. */
const RESERVED: Readonly<Record<string, string>> = {
  account_id: 'accountId',
  delete_time: 'deleteTime',
  deleted_at: 'deleteTime',
  expire_time: 'expireTime',
}

function misnamed(property: string, { options }: ColumnArgs): Problem[] {
  const name = options.name ?? snakeCase(property)
  const expected = Object.hasOwn(RESERVED, name) ? RESERVED[name] : undefined
  return expected === undefined || expected === property
    ? []
    : [
        propertyProblem(
          'column',
          property,
          `${property}: the column ${name} has to be the property ${expected}, or the framework does not see it`,
        ),
      ]
}
