import { inEntity, type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import { isChecked, isOwning } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { ForeignKeyDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { familyOf } from '../deletion/rules/family.js'
import { resourcesOf } from './resources-in.js'
import { type Naming, tableNameOf } from './table-name-of.js'

/** The references from a table to other resources' tables. */
export interface TableReferences {
  readonly foreignKeys: readonly Omit<ForeignKeyDefinition, 'name'>[]
  /**
   * True if tenant and key must be unique together because another table refers to both, although the key
   * alone is unique.
   */
  readonly isReferenced: boolean
  /** The columns by which referring rows are found. */
  readonly referenceIndexes: readonly (readonly string[])[]
  /** True if rows can be deleted and undeleted together with rows of other resources. */
  readonly isDeletedTogether: boolean
}

/**
 * Returns the references between the tables of resources. If both resources have a tenant, the reference
 * includes it, so that no statement can refer to another tenant's row.
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
      // A reference to the tenant uses an index that begins with the tenant.
      referenceIndexes: references.filter(isChecked).map((relation) => {
        const [own] = tenantsOf(model, resourceModel<object>(relation.target()))
        const rest = model.tenant === undefined || own.length > 0 ? [] : [model.tenant.column]
        return [...own, relation.reference.column, ...rest]
      }),
    }
  }
}

/** Returns the resources and their targets. */
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

/**
 * Returns the resources to which a resource refers by tenant and key although the primary key is only the
 * key.
 */
export function* tenantTargets(model: ResourceModel): Generator<ResourceModel> {
  for (const relation of model.relations.filter(isOwning)) {
    const target = resourceModel<object>(relation.target())
    if (!target.tenantInKey && tenantsOf(model, target)[0].length > 0) yield target
  }
}

/**
 * Returns the references that cannot have a foreign key, because their column has the exact collation and the
 * referenced column declares a different one.
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

/** Returns the missing foreign keys of several resources, with the resources' names. */
export const unmadeForeignKeys = (models: readonly ResourceModel[], dialect: Dialect): readonly Problem[] =>
  models.flatMap((model) => inEntity(model.entity, foreignKeyProblems(model, dialect), true))

const isLoose = ({ collation = '' }: Field, exactly: Dialect['text']['exactly']): boolean =>
  exactly('', collation) !== ''

/** Returns the tenant columns of both sides, if both have one. */
const tenantsOf = (
  { tenant: own }: ResourceModel,
  { tenant: other }: ResourceModel,
): readonly [readonly string[], readonly string[]] =>
  own === undefined || other === undefined ? [[], []] : [[own.column], [other.column]]
