import { getMetadataArgsStorage } from 'typeorm'
import type { ColumnNames, DeclaredReference } from '../columns/column-naming.js'
import { keyColumns, type TenantColumns } from './key-columns.js'

type Storage = ReturnType<typeof getMetadataArgsStorage>
type RelationArgs = Storage['relations'][number]
type ColumnArgs = Storage['columns'][number]
type JoinColumnArgs = Storage['joinColumns'][number]

/** What is known of any class. */
export interface OfClasses {
  /** It, and what it extends. */
  readonly lineage: (entity: object) => readonly object[]
  readonly tenantOf: (entity: object) => Pick<TenantColumns, 'property'>
}

/**
 * The columns of an entity that hold keys of other resources. @param classes - it, and what it extends.
 * @param tenant - of the entity.
 */
export function referenceColumns(
  classes: ReadonlySet<unknown>,
  tenant: TenantColumns,
  names: ColumnNames,
  of: OfClasses,
): ReadonlySet<string> {
  const { relations, joinColumns, columns } = getMetadataArgsStorage()
  const declared = columns.filter(({ target }) => classes.has(target))
  const found = new Set<string>()
  for (const relation of relations) {
    const { target, propertyName, relationType } = relation
    if (!classes.has(target)) continue
    const joins = joinColumns.filter((one) => one.target === target && one.propertyName === propertyName)
    if (relationType !== 'many-to-one' && (relationType !== 'one-to-one' || joins.length === 0)) continue
    const [join] = keyColumns(tenant, joins)
    const column = names.ofReference(declaredReference(relation, join, of), declared)
    if (column !== undefined) found.add(column)
  }
  return found
}

/** @param join - the column of its `@JoinColumn()` that holds the key. */
export const declaredReference = (
  { propertyName: property, type }: RelationArgs,
  join: JoinColumnArgs | undefined,
  of: OfClasses,
): DeclaredReference => ({ property, join, targetKey: () => keyOfTarget(type, of)?.propertyName })

/**
 * The column that is the key of a target. Undefined where the target is not loaded yet, or its key has
 * several columns.
 */
export function keyOfTarget(
  type: RelationArgs['type'],
  { lineage, tenantOf }: OfClasses,
): ColumnArgs | undefined {
  const target = loaded(type)
  if (typeof target !== 'function') return undefined
  const classes = new Set<unknown>(lineage(target))
  const tenant = tenantOf(target).property
  const [key, ...others] = getMetadataArgsStorage().columns.filter(
    ({ target: owner, propertyName, options }) =>
      classes.has(owner) && options.primary === true && propertyName !== tenant,
  )
  return others.length === 0 ? key : undefined
}

/** A class that is declared later in the same module throws when it is named. */
function loaded(type: RelationArgs['type']): unknown {
  if (typeof type !== 'function') return undefined
  try {
    return (type as () => unknown)()
  } catch {
    return undefined
  }
}
