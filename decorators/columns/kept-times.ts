import { getMetadataArgsStorage } from 'typeorm'
import { namedFields } from './fields-by-property.js'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

/** The roles of TypeORM's decorators for times and versions, by the mode of their columns. */
const ROLES: ReadonlyMap<string, KeptRole> = new Map<ColumnArgs['mode'], KeptRole>([
  ['createDate', 'createTime'],
  ['updateDate', 'updateTime'],
  ['deleteDate', 'deleteTime'],
  ['version', 'version'],
])

type KeptRole = 'createTime' | 'updateTime' | 'deleteTime' | 'version'

interface Declared {
  readonly properties: ReadonlyMap<string, { readonly role?: string; readonly protoField?: string }>
  readonly softDeletable?: boolean
}

/**
 * Returns the property of one of Ashlar's times.
 *
 * @param field - the field of the message.
 */
export const propertyOfTime = (field: string, property: string, properties: Declared['properties']): string =>
  [...properties].find(([, { role }]) => role === property)?.[0] ??
  [...namedFields(properties)].find(([, name]) => name === field)?.[0] ??
  property

/** Returns the times and versions that only TypeORM's decorators declare. */
export const timesDeclared = (
  classes: ReadonlySet<unknown>,
  { properties }: { readonly properties: ReadonlyMap<string, { role?: string; isInternal?: true }> },
): readonly { readonly owner: object; readonly property: string; readonly role: KeptRole }[] =>
  getMetadataArgsStorage().columns.flatMap(({ target, propertyName: property, mode }) => {
    const role = classes.has(target) ? ROLES.get(mode) : undefined
    const { role: declared, isInternal } = properties.get(property) ?? {}
    // The class may have its role already, from another resource that extends it.
    if (role === undefined || (declared ?? role) !== role || isInternal === true) return []
    return [{ owner: (target as { readonly prototype: object }).prototype, property, role }]
  })

/** Returns true if TypeORM's manager continues to set a value that repositories set, too. */
export function isKeptTime(
  { mode, propertyName }: Pick<ColumnArgs, 'mode' | 'propertyName'>,
  { properties, softDeletable }: Declared,
): boolean {
  if (mode === 'deleteDate')
    return softDeletable === true && propertyOfTime('delete_time', 'deleteTime', properties) === propertyName
  const { role } = properties.get(propertyName) ?? {}
  return role !== undefined && ROLES.get(mode) === role
}

/**
 * Lets TypeORM's manager continue to set a table's times. For `@CreateTime() @CreateDateColumn()`, in either
 * order, TypeORM's column is retained, with a type that Ashlar can read.
 */
export function keepTimes(classes: ReadonlySet<unknown>, declared: Declared): void {
  const { columns } = getMetadataArgsStorage()
  const kept = columns.filter((column) => classes.has(column.target) && isKeptTime(column, declared))
  for (const { target, propertyName, options, mode } of kept) {
    options.type ??= mode === 'version' ? Number : Date
    // TypeORM makes this column nullable without declaring it.
    if (mode === 'deleteDate') options.nullable ??= true
    const ours = columns.findIndex(
      (one) => one.target === target && one.propertyName === propertyName && one.mode === 'regular',
    )
    if (ours >= 0) columns.splice(ours, 1)
  }
}
