import type { DataSource } from 'typeorm'
import { type Problem, propertyProblem } from '../../errors.js'
import { relationGraph } from '../../resource/relations/graph.js'
import { isOwning, type OwningRelation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import { resourcesOf } from '../schema/resources-in.js'

/** Returns the problems of a resource's relations in an initialized DataSource. */
export function referenceProblems(dataSource: DataSource, model: ResourceModel): readonly Problem[] {
  if (model.relations.length === 0) return []
  const graph = relationGraph(resourcesOf(dataSource))
  const problems = graph.problems(model)
  if (problems.length > 0 || !dataSource.hasMetadata(model.entity)) return problems
  return model.relations.filter(isOwning).flatMap((relation) => joinProblem(dataSource, model, relation))
}

/**
 * Checks that TypeORM joins by the tenant, too. Otherwise it could read rows of another tenant and create
 * keys to them. If the entity names the columns, TypeORM joins as it did before the entity was a resource.
 */
function joinProblem(dataSource: DataSource, model: ResourceModel, relation: OwningRelation): Problem[] {
  const target = resourceModel<object>(relation.target())
  const { property, reference } = relation
  const pairs = [
    ...(model.tenant === undefined || target.tenant === undefined
      ? []
      : [[model.tenant, target.tenant] as const]),
    [reference, target.key] as const,
  ]
  const wanted = pairs.map(([own, other]) => `${own.column} → ${other.property}`)
  const joins = dataSource
    .getMetadata(model.entity)
    .relations.find(({ propertyName }) => propertyName === property)?.joinColumns
  const found = (joins ?? []).map(
    ({ databaseName, referencedColumn }) => `${databaseName} → ${referencedColumn?.propertyName ?? ''}`,
  )
  const isWhole = found.length === wanted.length && wanted.every((pair) => found.includes(pair))
  const isOfKey = model.strategy !== undefined && found.length === 1 && found[0] === wanted.at(-1)
  if (isWhole || isOfKey) return []
  const written = pairs.map(
    ([own, other]) => `{ name: '${own.column}', referencedColumnName: '${other.property}' }`,
  )
  return [
    propertyProblem(
      'relation',
      property,
      `${property}: TypeORM joins ${target.entity.name} by (${found.join(', ')})`,
      `write @JoinColumn([${written.join(', ')}])`,
    ),
  ]
}
