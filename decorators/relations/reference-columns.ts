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

/** The known facts of any class. */
export interface OfClasses {
  /** It, and what it extends. */
  readonly lineage: (entity: object) => readonly object[]
  readonly tenantOf: (entity: object) => Pick<TenantColumns, 'property'>
  /** The type that a property is declared with, if TypeORM was given another one. */
  readonly typeOf: (entity: object, property: string) => unknown
}

/**
 * The columns of an entity that hold keys of other resources, with these keys.
 * @param classes - it, and what it extends.
 * @param tenant - of the entity.
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

/** @param join - the column of its `@JoinColumn()` that holds the key. */
export const declaredReference = (
  relation: RelationArgs,
  join: JoinColumnArgs | undefined,
  of: OfClasses,
): DeclaredReference => ({
  property: relation.propertyName,
  join,
  targetKey: () => keyOfTarget(relation, of)?.propertyName,
})

/** The key that a reference holds. */
export interface ReferredKey {
  readonly relation: RelationArgs
  /** Undefined if the target is not loaded yet, or its key has several columns. */
  readonly column: ColumnArgs | undefined
}

/**
 * The column that is the key of a target, as it is declared. Undefined if the target is not loaded yet, or
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

/** A class that is declared later in the same module throws when it is named. */
function loaded(relation: RelationArgs): unknown {
  try {
    return targetClass(relation)
  } catch {
    return undefined
  }
}

/**
 * The options of a reference's column. TypeORM gives it the type of the key that it holds, whatever
 * `@Column()` says.
 */
export function withTypeOfKey(options: ColumnOptions, key: ColumnArgs | undefined): ColumnOptions {
  const held = key?.options
  if (held?.type === undefined || held.type === options.type) return options
  const isStated = typeof options.type === 'string'
  // A class says less than a type. One text may be wider than another.
  const isTextOfBoth = [options.type, held.type].every(
    (type) => kindOfColumn(type, undefined) === string.name,
  )
  if (isStated && (typeof held.type !== 'string' || isTextOfBoth)) return options
  return { ...options, type: held.type, ...(held.unsigned !== undefined && { unsigned: held.unsigned }) }
}
