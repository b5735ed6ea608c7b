import { type ColumnOptions, type ColumnType, getMetadataArgsStorage } from 'typeorm'
import { kindOfColumn } from '../../lib/resource/kinds/declared-kind.js'
import { string } from '../../lib/resource/kinds/text.js'
import type { ColumnNames, DeclaredReference } from '../columns/column-naming.js'
import { keyColumns, type TenantColumns } from './key-columns.js'
import { targetClass } from './target-class.js'

type Storage = ReturnType<typeof getMetadataArgsStorage>
type RelationArgs = Storage['relations'][number]
type ColumnArgs = Storage['columns'][number]
type JoinColumnArgs = Storage['joinColumns'][number]

/** Looks up facts about classes. */
export interface OfClasses {
  /** Returns the class and its base classes. */
  readonly lineage: (entity: object) => readonly object[]
  readonly tenantOf: (entity: object) => Pick<TenantColumns, 'property'>
  /** Returns the declared type of a property, if TypeORM has a different one. */
  readonly typeOf: (entity: object, property: string) => unknown
}

/**
 * Returns the columns of an entity that contain keys of other resources, with these keys.
 *
 * @param classes - the entity and its base classes.
 * @param tenant - the tenant of the entity.
 */
export function referenceColumns(
  classes: ReadonlySet<unknown>,
  tenant: TenantColumns,
  names: ColumnNames,
  of: OfClasses,
): ReadonlyMap<string, ReferredKey> {
  const { relations, joinColumns, columns } = getMetadataArgsStorage()
  const declared = columns.filter(({ target }) => classes.has(target))
  const found = new Map<string, ReferredKey>()
  for (const relation of relations) {
    const { target, propertyName, relationType } = relation
    if (!classes.has(target)) continue
    const joins = joinColumns.filter((one) => one.target === target && one.propertyName === propertyName)
    if (relationType !== 'many-to-one' && (relationType !== 'one-to-one' || joins.length === 0)) continue
    const [join] = keyColumns(tenant, joins)
    const column = names.ofReference(declaredReference(relation, join, of), declared)
    if (column !== undefined && !found.has(column))
      found.set(column, { relation, column: keyOfTarget(relation, of) })
  }
  return found
}

/**
 * Returns the reference that a relation declares.
 *
 * @param join - the column of its `@JoinColumn()` that contains the key.
 */
export const declaredReference = (
  relation: RelationArgs,
  join: JoinColumnArgs | undefined,
  of: OfClasses,
): DeclaredReference => ({
  property: relation.propertyName,
  join,
  targetKey: () => keyOfTarget(relation, of)?.propertyName,
})

/** The key that a reference contains. */
export interface ReferredKey {
  readonly relation: RelationArgs
  /** Undefined if the target is not yet loaded, or if its key has several columns. */
  readonly column: ColumnArgs | undefined
}

/**
 * Returns the key column of a target as declared. Returns undefined if the target is not yet loaded, or if
 * its key has several columns.
 */
export function keyOfTarget(
  relation: RelationArgs,
  { lineage, tenantOf, typeOf }: OfClasses,
): ColumnArgs | undefined {
  const target = loaded(relation)
  if (typeof target !== 'function') return undefined
  const classes = new Set<unknown>(lineage(target))
  const tenant = tenantOf(target).property
  const [key, ...others] = getMetadataArgsStorage().columns.filter(
    ({ target: owner, propertyName, options }) =>
      classes.has(owner) && options.primary === true && propertyName !== tenant,
  )
  if (key === undefined || others.length > 0) return undefined
  const type = typeOf(target, key.propertyName)
  return type === undefined ? key : { ...key, options: { ...key.options, type: type as ColumnType } }
}

/**
 * Returns the target, or undefined if the class is declared later in the same module, because naming it
 * throws.
 */
function loaded(relation: RelationArgs): unknown {
  try {
    return targetClass(relation)
  } catch {
    return undefined
  }
}

/**
 * Returns the options of a reference's column. TypeORM uses the type of the referenced key, regardless of
 * `@Column()`.
 */
export function withTypeOfKey(options: ColumnOptions, key: ColumnArgs | undefined): ColumnOptions {
  const held = key?.options
  if (held?.type === undefined || held.type === options.type) return options
  const isStated = typeof options.type === 'string'
  // A class is less specific than a type, and string types may have different lengths.
  const isTextOfBoth = [options.type, held.type].every(
    (type) => kindOfColumn(type, undefined) === string.name,
  )
  if (isStated && (typeof held.type !== 'string' || isTextOfBoth)) return options
  return { ...options, type: held.type, ...(held.unsigned !== undefined && { unsigned: held.unsigned }) }
}
