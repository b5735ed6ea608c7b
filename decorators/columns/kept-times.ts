import { getMetadataArgsStorage } from 'typeorm'
import { namedFields } from './fields-by-property.js'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

/** The decorator of TypeORM that may stand beside one of ours, by the mode of its column. */
const MODE_OF = new Map<string, ColumnArgs['mode']>([
  ['createTime', 'createDate'],
  ['updateTime', 'updateDate'],
])

interface Declared {
  readonly properties: ReadonlyMap<string, { readonly role?: string; readonly protoField?: string }>
  readonly softDeletable?: boolean
}

/** The property that holds a time of the framework. @param field - of the message. */
export const propertyOfTime = (field: string, property: string, properties: Declared['properties']): string =>
  [...namedFields(properties)].find(([, name]) => name === field)?.[0] ?? property

/** Whether TypeORM's manager keeps setting a time that repositories set as well. */
export function isKeptTime(
  { mode, propertyName }: Pick<ColumnArgs, 'mode' | 'propertyName'>,
  { properties, softDeletable }: Declared,
): boolean {
  if (mode === 'deleteDate')
    return softDeletable === true && propertyOfTime('delete_time', 'deleteTime', properties) === propertyName
  const { role } = properties.get(propertyName) ?? {}
  return role !== undefined && MODE_OF.get(role) === mode
}

/**
 * Leaves a table's times to TypeORM's manager, too: of `@CreateTime() @CreateDateColumn()`, in either order,
 * TypeORM's column remains, which has a type for our readers.
 */
export function keepTimes(classes: ReadonlySet<unknown>, declared: Declared): void {
  const { columns } = getMetadataArgsStorage()
  const kept = columns.filter((column) => classes.has(column.target) && isKeptTime(column, declared))
  for (const { target, propertyName, options, mode } of kept) {
    options.type ??= Date
    // As TypeORM has it, which says so nowhere.
    if (mode === 'deleteDate') options.nullable ??= true
    const ours = columns.findIndex(
      (one) => one.target === target && one.propertyName === propertyName && one.mode === 'regular',
    )
    if (ours >= 0) columns.splice(ours, 1)
  }
}
