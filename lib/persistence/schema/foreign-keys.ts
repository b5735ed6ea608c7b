import { inEntity, type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import { isChecked, isOwning } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { ForeignKeyDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { familyOf } from '../deletion/rules/family.js'
import { resourcesOf } from './resources-in.js'
import { type Naming, tableNameOf } from './table-name-of.js'

/** The references of a table to other resources' tables. */
export interface TableReferences {
  readonly foreignKeys: readonly Omit<ForeignKeyDefinition, 'name'>[]
  /** True if tenant and key together have to be unique, although the key alone is. */
  readonly isReferenced: boolean
  /** The columns by which the rows are found that refer to another one. */
  readonly referenceIndexes: readonly (readonly string[])[]
  /** True if rows can be deleted and undeleted together with other resources' rows. */
  readonly isDeletedTogether: boolean
}

/**
 * The references among the tables of a set of resources. A reference between resources of tenants includes
 * the tenant, so that no statement can make it leave the tenant.
 */
export function referencesOf(
  models: readonly ResourceModel[],
  dialect: Dialect,
  naming: Naming = {},
): (model: ResourceModel) => TableReferences {
  const referenced = new Set(models.flatMap((model) => [...tenantTargets(model)]))
  const family = familyOf([...allOf([...models, ...resourcesOf(naming)])])
  return (model) => {
    const references = model.relations.filter(isOwning)
    return {
      isDeletedTogether: family.get(model)?.undeletedBy === 'id',
      isReferenced: referenced.has(model),
      foreignKeys: references.map((relation) => {
        const target = resourceModel<object>(relation.target())
        const [own, other] = tenantsOf(model, target)
        return {
          columns: [...own, relation.reference.column],
          target: tableNameOf(target, dialect, naming),
          targetColumns: [...other, target.key.column],
        }
      }),
      // An index that begins with the tenant serves a reference to it.
      referenceIndexes: references.filter(isChecked).map((relation) => {
        const [own] = tenantsOf(model, resourceModel<object>(relation.target()))
        const rest = model.tenant === undefined || own.length > 0 ? [] : [model.tenant.column]
        return [...own, relation.reference.column, ...rest]
      }),
    }
  }
}

/** The resources, and those that they refer to. */
function allOf(
  models: readonly ResourceModel[],
  found = new Set<ResourceModel>(),
): ReadonlySet<ResourceModel> {
  for (const model of models) {
    if (found.has(model)) continue
    found.add(model)
    allOf(
      model.relations.map((relation) => resourceModel<object>(relation.target())),
      found,
    )
  }
  return found
}

/** The resources that a resource refers to by tenant and key, and whose primary key is the key alone. */
export function* tenantTargets(model: ResourceModel): Generator<ResourceModel> {
  for (const relation of model.relations.filter(isOwning)) {
    const target = resourceModel<object>(relation.target())
    if (!target.tenantInKey && tenantsOf(model, target)[0].length > 0) yield target
  }
}

/**
 * The references of a resource that its table can have no foreign key for: the table is made with the exact
 * collation, and what they refer to declares another one.
 */
export function foreignKeyProblems(
  model: ResourceModel,
  { label, text: { exactly }, catalog: { foreignKeys } }: Dialect,
): readonly Problem[] {
  if (model.existing || foreignKeys?.needsOneCollation !== true) return []
  return model.relations.filter(isOwning).flatMap((relation) => {
    const target = resourceModel<object>(relation.target())
    const referred = tenantsOf(model, target)[1].length > 0 ? [target.tenant, target.key] : [target.key]
    const found = referred.find((field) => field?.collation !== undefined && isLoose(field, exactly))
    if (found === undefined) return []
    const { property, isHidden, reference } = relation
    const [own, other] = [model.entity.name, target.entity.name]
    const held = isHidden ? `a property for ${property}` : reference.property
    const place = found === target.tenant ? model.tenant?.property : held
    return [
      propertyProblem(
        'collation',
        property,
        `${property}: ${found.property} of ${other} has the collation ${found.collation}, but the table of ${own} uses another, and ${label} supports no foreign key between the two`,
        `declare @Resource({ existing: true }) on ${own} and @Column({ collation: '${found.collation}' }) on ${place}, and create its table in your own migration; or give ${found.property} of ${other} the exact collation`,
      ),
    ]
  })
}

/** The same of several resources, each named. */
export const unmadeForeignKeys = (models: readonly ResourceModel[], dialect: Dialect): readonly Problem[] =>
  models.flatMap((model) => inEntity(model.entity, foreignKeyProblems(model, dialect), true))

const isLoose = ({ collation = '' }: Field, exactly: Dialect['text']['exactly']): boolean =>
  exactly('', collation) !== ''

/** The columns of the tenant on both sides, where both have one. */
const tenantsOf = (
  { tenant: own }: ResourceModel,
  { tenant: other }: ResourceModel,
): readonly [readonly string[], readonly string[]] =>
  own === undefined || other === undefined ? [[], []] : [[own.column], [other.column]]
