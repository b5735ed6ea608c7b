import { getMetadataArgsStorage } from 'typeorm'
import { type ColumnNames, hiddenProperty } from '../../../decorators/columns/column-naming.js'
import { lineage } from '../../../decorators/entity-facts.js'
import { keyColumns } from '../../../decorators/relations/key-columns.js'
import { declaredReference, keyOfTarget } from '../../../decorators/relations/reference-columns.js'
import { targetClass } from '../../../decorators/relations/target-class.js'
import { OF_CLASSES, tenantDeclared, type TenantDeclaration } from '../../../decorators/tenant-scoped.js'
import { DeclarationError, inEntity, type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import type { ArgsOf } from '../typeorm/declaration-rules.js'
import {
  type InverseRelation,
  isOfTenant,
  type OnDelete,
  type OwningRelation,
  type RelatedClass,
  type Relation,
} from './relation.js'

type RelationArgs = ArgsOf<'relations'>
type JoinColumnArgs = ArgsOf<'joinColumns'>
type ColumnArgs = ArgsOf<'columns'>

/** A relation before the fields of its entity are known. */
type DeclaredRelation =
  (Omit<OwningRelation, 'reference' | 'proto'> & Reference) | Omit<InverseRelation, 'proto'>

interface Reference {
  /** The column that contains the target's key. */
  readonly column: string
  /** The `nullable` option of the relation itself. */
  readonly nullable: boolean | undefined
}

/** A column that only a relation declares. */
export interface HiddenColumn {
  readonly args: ColumnArgs
  readonly name: string
  /** The class of the key in it, as reported by TypeScript. */
  readonly designType: unknown
}

/** The relations of an entity and its ancestors. */
export interface DeclaredRelations {
  readonly relations: readonly DeclaredRelation[]
  /** The reference columns that no property declares. */
  readonly hidden: readonly HiddenColumn[]
  readonly problems: readonly Problem[]
}

/**
 * Reads the relations of an entity.
 * @param refused - properties for which a problem was already reported.
 */
export function declaredRelations(
  entity: { readonly name: string },
  refused: ReadonlySet<string>,
  names: ColumnNames,
): DeclaredRelations {
  const classes = new Set<unknown>(lineage(entity))
  const storage = getMetadataArgsStorage()
  const columns = storage.columns.filter(({ target }) => classes.has(target))
  const joins = storage.joinColumns.filter(({ target }) => classes.has(target))
  const tenant = tenantDeclared(entity)
  const relations: DeclaredRelation[] = []
  const hidden: HiddenColumn[] = []
  const problems: Problem[] = []
  const found = new Map<string, RelationArgs>()
  for (const args of storage.relations)
    if (classes.has(args.target) && !refused.has(args.propertyName)) found.set(args.propertyName, args)
  for (const { propertyName } of joins)
    if (!found.has(propertyName) && !refused.has(propertyName))
      problems.push(
        propertyProblem(
          'relation',
          propertyName,
          `${propertyName}: @JoinColumn() is not on a relation`,
          'add @ManyToOne() or @OneToOne()',
        ),
      )
  for (const [property, args] of found) {
    const own = joins.filter(({ propertyName }) => propertyName === property)
    const relation = relationOf(args, own, columns, tenant, names)
    problems.push(...problemsOf(args, own, columns, tenant))
    if ('rule' in relation) problems.push(relation)
    else relations.push(relation)
    if (!('column' in relation) || !relation.isHidden) continue
    const taken = columns.find(({ propertyName }) => propertyName === hiddenProperty(property))
    if (taken !== undefined)
      problems.push(
        propertyProblem(
          'relation',
          property,
          `${property}: its reference would be ${relation.column}, where ${taken.propertyName} is already stored (${names.of(taken)})`,
          `write @JoinColumn({ name: ${JSON.stringify(names.of(taken))} })`,
        ),
      )
    hidden.push(hiddenColumn(args, relation))
  }
  return { relations, hidden, problems }
}

/**
 * Returns the column of a relation without a key property. TypeORM gives it the type of the referenced key.
 */
function hiddenColumn(
  relation: RelationArgs,
  { column: name, nullable }: Pick<Reference, 'column' | 'nullable'>,
): HiddenColumn {
  const key = keyOfTarget(relation, OF_CLASSES)
  const owner = key?.target as { readonly prototype: object } | undefined
  const { type = String, length, unsigned } = key?.options ?? {}
  return {
    args: {
      target: relation.target,
      mode: 'regular',
      propertyName: hiddenProperty(relation.propertyName),
      options: {
        type,
        name,
        nullable: nullable !== false,
        ...(length !== undefined && { length }),
        ...(unsigned !== undefined && { unsigned }),
      },
    },
    name,
    designType: key && owner && Reflect.getMetadata('design:type', owner.prototype, key.propertyName),
  }
}

function relationOf(
  args: RelationArgs,
  joins: readonly JoinColumnArgs[],
  columns: readonly ColumnArgs[],
  tenant: TenantDeclaration,
  names: ColumnNames,
): DeclaredRelation | Problem {
  const { propertyName: property, relationType, options, inverseSideProperty } = args
  const target = targetOf(args)
  const inverse = inverseOf(inverseSideProperty)
  if (relationType === 'one-to-many' || (relationType === 'one-to-one' && joins.length === 0))
    return inverse === undefined
      ? propertyProblem(
          'relation',
          property,
          `${property}: ${relationType === 'one-to-many' ? '@OneToMany()' : '@OneToOne() without @JoinColumn()'} must name the property of the other side`,
          `write (other) => other.<property> as its second argument${relationType === 'one-to-one' ? ', or add @JoinColumn()' : ''}`,
        )
      : {
          property,
          kind: relationType === 'one-to-many' ? relationType : 'one-to-one-inverse',
          target,
          inverse,
        }
  const [join] = keyColumns(tenant, joins)
  const column = names.ofReference(declaredReference(args, join, OF_CLASSES), columns)
  if (column === undefined)
    return propertyProblem(
      'relation',
      property,
      `${property}: TypeORM names its column after the target's key, but the target is not loaded yet or has no single-column key`,
      `write @JoinColumn({ name: ${JSON.stringify(hiddenProperty(property))} }), or the existing name of its column`,
    )
  return {
    property,
    kind: relationType === 'one-to-one' ? relationType : 'many-to-one',
    target,
    inverse,
    onDelete: ON_DELETE[options.onDelete ?? 'RESTRICT'] ?? 'restrict',
    referenced: join?.referencedColumnName,
    ...(options.createForeignKeyConstraints === false && { isUnconstrained: true as const }),
    column,
    nullable: options.nullable,
    isHidden: !columns.some((one) => names.of(one) === column),
  }
}

const ON_DELETE: Readonly<Record<string, OnDelete>> = {
  RESTRICT: 'restrict',
  'NO ACTION': 'restrict',
  CASCADE: 'cascade',
  'SET NULL': 'set null',
}

function targetOf(relation: RelationArgs): () => RelatedClass {
  const { propertyName: property, target: owner } = relation
  return () => {
    const target = targetClass(relation)
    if (typeof target === 'function') return target as RelatedClass
    const { name } = owner as { readonly name: string }
    const wrong =
      typeof target === 'string'
        ? `no entity and no table is named ${JSON.stringify(target)}: name the class, as in () => Project`
        : target === undefined
          ? 'its target is not loaded yet: modules that import each other are loaded one after another'
          : 'its target is not a class: name the class, as in () => Project'
    throw new DeclarationError(
      name,
      inEntity({ name }, [propertyProblem('relation', property, `${property}: ${wrong}`)]),
    )
  }
}

/**
 * Returns the inverse property. TypeORM accepts a name, or a function that returns it from the target's
 * properties.
 */
function inverseOf(inverse: RelationArgs['inverseSideProperty']): string | undefined {
  if (typeof inverse !== 'function') return inverse
  const named: unknown = (inverse as (names: object) => unknown)(NAMES_ITSELF)
  return typeof named === 'string' ? named : undefined
}

/** Returns its own name for every property. */
const NAMES_ITSELF: object = new Proxy({}, { get: (_, property) => property })

function* problemsOf(
  { propertyName: property, relationType }: RelationArgs,
  allJoins: readonly JoinColumnArgs[],
  columns: readonly ColumnArgs[],
  tenant: TenantDeclaration,
): Generator<Problem> {
  // TypeORM ignores @JoinColumn() on the inverse side.
  const joins = relationType === 'one-to-many' ? [] : allJoins
  if (columns.some(({ propertyName }) => propertyName === property))
    yield propertyProblem(
      'relation',
      property,
      `${property} is a relation and a column`,
      `keep the relation, and give the key of the other resource its own property, such as ${hiddenProperty(property)}`,
    )
  const [first, ...others] = keyColumns(tenant, joins)
  if (others.length > 0 || (joins.length > 0 && first === undefined))
    yield propertyProblem(
      'relation',
      property,
      `${property}: @JoinColumn() must name one column, which holds the key of the other resource`,
      'the framework adds the tenant',
    )
  for (const join of joins)
    if (join.referencedColumnName === tenant.property && join.name !== tenant.column)
      yield propertyProblem(
        'relation',
        property,
        `${property}: @JoinColumn() takes the tenant from ${join.name ?? 'no column'}`,
        `write name: '${tenant.column}' there`,
      )
}

/**
 * Combines relations with the fields that contain their references.
 * @param protoOf - returns the proto name of a property.
 */
export function relationsOf(
  declared: readonly DeclaredRelation[],
  fields: readonly Field[],
  protoOf: (property: string) => string,
): { readonly relations: readonly Relation[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const relations = declared.flatMap((one): Relation[] => {
    const proto = protoOf(one.property)
    if (!('column' in one)) return [Object.freeze({ ...one, proto })]
    const { column, nullable, ...relation } = one
    const reference = fields.find((field) => field.column === column)
    if (reference === undefined) return []
    problems.push(...referenceProblems(relation, reference, nullable))
    return [Object.freeze({ ...relation, proto, reference })]
  })
  return { relations: Object.freeze(relations), problems }
}

function* referenceProblems(
  { property, kind, onDelete, isHidden }: Omit<OwningRelation, 'reference' | 'proto'>,
  reference: Field,
  nullable: boolean | undefined,
): Generator<Problem> {
  const name = reference.property
  if (kindOf(reference).key === undefined)
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${name} is ${reference.kind}`,
      'a reference holds the key of the other resource, which is a string, a uuid or an integer',
    )
  const isKey = reference.role === 'key'
  if (isKey && kind === 'many-to-one')
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${name} is the key, so at most one entity could have the reference`,
      'write @OneToOne()',
    )
  if (isOfTenant({ reference }) && kind === 'one-to-one')
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${name} is the tenant, which many entities have`,
      'write @ManyToOne()',
    )
  if (!isKey && !isOfTenant({ reference }) && reference.role !== 'plain' && reference.role !== 'outputOnly')
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${name} is ${reference.role} and cannot hold a reference`,
      "keep the other resource's key in its own property",
    )
  if (onDelete === 'set null' && !reference.nullable)
    yield propertyProblem(
      'relation',
      property,
      `${property}: onDelete: 'SET NULL' needs a nullable reference`,
      `${isHidden ? 'remove nullable: false' : `make ${name} nullable`}, or write 'RESTRICT' or 'CASCADE'`,
    )
  if (!isHidden && nullable !== undefined && nullable !== reference.nullable)
    yield propertyProblem(
      'relation',
      property,
      `${property}: nullable: ${String(nullable)} contradicts ${name}, which is ${reference.nullable ? '' : 'not '}nullable: remove it from the relation`,
    )
}
