import type { EntityMetadata } from 'typeorm'
import { isResource } from '../../resource/resource-model.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { StartUpFindings } from '../contract/repository.js'
import { isLeftBySoftDelete } from '../deletion/rules/family.js'
import { membersOf } from '../deletion/sql/members-of.js'
import { type CheckedEntity, NOTHING } from './findings.js'

type Described = Pick<CheckedEntity, 'dataSource' | 'model'>

/** Describes effects of relations that differ from their options, or that may surprise a reader. */
export function relationNotes({ dataSource, model }: Described): StartUpFindings {
  if (!dataSource.hasMetadata(model.entity)) return NOTHING
  const { name } = model.entity
  const unconstrained = model.relations
    .filter(isOwning)
    .filter(({ isUnconstrained }) => isUnconstrained === true && !model.existing)
    .map(
      ({ property }) =>
        `${property} of ${name} has createForeignKeyConstraints: false, but its table has a foreign key: it keeps the reference within its tenant`,
    )
  const left = (membersOf(dataSource).get(model)?.parents ?? [])
    .filter(isLeftBySoftDelete)
    .map(
      ({ parent, relation }) =>
        `${relation.property} of ${name}: a Delete of ${parent.model.entity.name} can be undone, so it keeps the rows of ${name}; onDelete: 'CASCADE' deletes them when the row is permanently removed`,
    )
  return { problems: [], warnings: [...unconstrained, ...left] }
}

/**
 * Describes effects in the database of relations that Ashlar does not manage, including their join tables.
 */
export function unmanagedNotes({ dataSource, model }: Described): StartUpFindings {
  if (!dataSource.hasMetadata(model.entity)) return NOTHING
  const { name } = model.entity
  const own = dataSource.getMetadata(model.entity)
  const managed = new Set(model.relations.map(({ property }) => property))
  const unmanaged = own.relations.filter(({ propertyPath }) => !managed.has(propertyPath))
  const tables = unmanaged.flatMap(({ propertyPath, isManyToManyOwner, junctionEntityMetadata }) =>
    isManyToManyOwner && !model.existing
      ? `${propertyPath} of ${name} is not managed by Ashlar: create its table ${junctionEntityMetadata?.tablePath ?? ''} in your own migration`
      : [],
  )
  const cascades = unmanaged.flatMap(({ propertyPath, onDelete, inverseEntityMetadata }) =>
    changesRows(onDelete)
      ? `${propertyPath} of ${name} is not managed by Ashlar, and its onDelete: '${onDelete}' changes rows of ${name} without a hook or an event when the row of ${inverseEntityMetadata.name} is deleted`
      : [],
  )
  const others = dataSource.entityMetadatas.filter(({ target }) => !isResource(target))
  return {
    problems: [],
    warnings: [...tables, ...cascades, ...others.flatMap((other) => cascadesOf(other, own))],
  }
}

const cascadesOf = ({ name, relations }: EntityMetadata, own: EntityMetadata): readonly string[] =>
  relations.flatMap(({ propertyPath, onDelete, inverseEntityMetadata }) =>
    inverseEntityMetadata === own && changesRows(onDelete)
      ? `${propertyPath} of ${name}, which is not a resource, has onDelete: '${onDelete}': the database changes its rows when the row of ${own.name} is permanently removed`
      : [],
  )

const changesRows = (onDelete: string | undefined): boolean =>
  onDelete === 'CASCADE' || onDelete === 'SET NULL' || onDelete === 'SET DEFAULT'
