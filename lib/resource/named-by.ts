import { getMetadataArgsStorage, type NamingStrategyInterface } from 'typeorm'
import { ColumnNames } from '../../decorators/columns/column-naming.js'
import { lineage } from '../../decorators/entity-facts.js'
import { keyColumns } from '../../decorators/relations/key-columns.js'
import { declaredReference } from '../../decorators/relations/reference-columns.js'
import { OF_CLASSES, tenantDeclared } from '../../decorators/tenant-scoped.js'
import { isOwning } from './relations/relation.js'
import type { ResourceModel } from './resource-model.js'

/** Returns the column names that a DataSource's naming strategy gives to a resource's properties. */
export function namedBy(
  { entity, strategy, relations }: Pick<ResourceModel, 'entity' | 'strategy' | 'relations'>,
  by: NamingStrategyInterface,
): ReadonlyMap<string, string> {
  const classes = new Set<unknown>(lineage(entity))
  const storage = getMetadataArgsStorage()
  const names = new ColumnNames(strategy, by)
  const columns = storage.columns.filter(({ target }) => classes.has(target))
  const named = new Map(columns.map((column) => [column.propertyName, names.of(column)]))
  for (const relation of relations) {
    if (!isOwning(relation) || !relation.isHidden) continue
    const isOfRelation = ({ target, propertyName }: { target: unknown; propertyName: string }) =>
      classes.has(target) && propertyName === relation.property
    const args = storage.relations.find(isOfRelation)
    if (args === undefined) continue
    const [join] = keyColumns(tenantDeclared(entity), storage.joinColumns.filter(isOfRelation))
    const name = names.ofReference(declaredReference(args, join, OF_CLASSES), columns)
    if (name !== undefined) named.set(relation.reference.property, name)
  }
  return named
}
