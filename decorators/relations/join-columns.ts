import { getMetadataArgsStorage } from 'typeorm'
import { snakeCase } from '../../lib/text/snake-case.js'
import { keyColumns, type TenantColumns } from './key-columns.js'
import { onTarget } from './target-class.js'

type Storage = ReturnType<typeof getMetadataArgsStorage>
type RelationArgs = Storage['relations'][number]
type Lineage = (entity: object) => readonly object[]
type TenantOf = (entity: object) => TenantColumns

/**
 * Declares two join columns, the tenant and the key, for each reference that includes the tenant. TypeORM
 * then joins by both and knows the actual foreign key. The columns are declared when TypeORM requests the
 * target, because the target is not known before. TypeORM reads the join columns after that.
 *
 * @param internal - the relations that Ashlar does not manage. For these, only the columns are named, by the
 * same convention as all others.
 */
export function completeJoinColumns(
  entity: object,
  lineage: Lineage,
  tenantOf: TenantOf,
  internal: ReadonlySet<string>,
): void {
  const classes = new Set<unknown>(lineage(entity))
  for (const relation of getMetadataArgsStorage().relations) {
    const { relationType } = relation
    if (!classes.has(relation.target)) continue
    if (relationType !== 'many-to-one' && relationType !== 'one-to-one') continue
    onTarget(relation, (target) => {
      if (internal.has(relation.propertyName)) nameJoins(relation, target, lineage)
      else complete(relation, entity, target, lineage, tenantOf)
    })
  }
}

function complete(
  relation: RelationArgs,
  entity: object,
  target: object,
  lineage: Lineage,
  tenantOf: TenantOf,
): void {
  const { joinColumns } = getMetadataArgsStorage()
  const { target: owner, propertyName, relationType } = relation
  const own = joinColumns.filter((join) => join.target === owner && join.propertyName === propertyName)
  if (relationType === 'one-to-one' && own.length === 0) return
  const [ours, theirs] = [tenantOf(entity), tenantOf(target)]
  const [join, ...others] = keyColumns(ours, own)
  const [key, ...keys] = columnsOf(target, lineage).filter(
    ({ propertyName: property, options }) => options.primary === true && property !== theirs.property,
  )
  // The resource model rejects all of these with a specific message.
  if (others.length > 0 || (own.length > 0 && join === undefined) || key === undefined || keys.length > 0)
    return
  const isHeld = (of: object, { property }: TenantColumns) =>
    columnsOf(of, lineage).some((column) => column.propertyName === property)
  const wanted = [
    ...(isHeld(entity, ours) && isHeld(target, theirs)
      ? [{ name: ours.column, referencedColumnName: theirs.property }]
      : []),
    {
      name: join?.name ?? snakeCase(`${propertyName}Id`),
      referencedColumnName: join?.referencedColumnName ?? key.propertyName,
    },
  ]
  const rest = joinColumns.filter((one) => !own.includes(one))
  joinColumns.splice(
    0,
    joinColumns.length,
    ...rest,
    ...wanted.map((pair) => ({ ...join, target: owner, propertyName, ...pair })),
  )
}

/** Names the columns of a relation that Ashlar does not manage, unless they have a name. */
function nameJoins(
  { target: owner, propertyName, relationType }: RelationArgs,
  target: object,
  lineage: Lineage,
): void {
  const { joinColumns } = getMetadataArgsStorage()
  const own = joinColumns.filter((join) => join.target === owner && join.propertyName === propertyName)
  if (relationType === 'one-to-one' && own.length === 0) return
  for (const { name, referencedColumnName } of internalJoins(propertyName, own, target, lineage)) {
    const join = own.find((one) => one.referencedColumnName === referencedColumnName) ?? own[0]
    if (join === undefined) joinColumns.push({ target: owner, propertyName, name, referencedColumnName })
    else Object.assign(join, { name })
  }
}

/** A column of a relation that Ashlar does not manage. */
export interface InternalJoin {
  readonly name: string
  /** The property of the target. */
  readonly referencedColumnName: string
}

/** Returns the columns of a relation that Ashlar does not manage, one per column of the target's key. */
export function internalJoins(
  property: string,
  own: readonly Pick<Storage['joinColumns'][number], 'name' | 'referencedColumnName'>[],
  target: object,
  lineage: Lineage,
  nameOf = (referenced: string): string => snakeCase(`${property}_${referenced}`),
): readonly InternalJoin[] {
  const [only] = own
  const named = own.flatMap(({ referencedColumnName }) => referencedColumnName ?? [])
  const referenced =
    named.length > 0
      ? named
      : columnsOf(target, lineage).flatMap(({ propertyName, options }) =>
          options.primary === true ? [propertyName] : [],
        )
  return referenced.map((referencedColumnName) => {
    const join = own.find((one) => one.referencedColumnName === referencedColumnName)
    const name = join?.name ?? (own.length === 1 ? only?.name : undefined)
    return { referencedColumnName, name: name ?? nameOf(referencedColumnName) }
  })
}

function columnsOf(entity: object, lineage: Lineage): Storage['columns'] {
  const classes = new Set<unknown>(lineage(entity))
  return getMetadataArgsStorage().columns.filter(({ target }) => classes.has(target))
}
