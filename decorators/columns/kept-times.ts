import { getMetadataArgsStorage } from 'typeorm'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

/** The decorator of TypeORM that may stand beside one of ours, by the mode of its column. */
const MODE_OF = new Map<string, ColumnArgs['mode']>([
  ['createTime', 'createDate'],
  ['updateTime', 'updateDate'],
])

interface Decorated {
  readonly role?: string
}

/** Whether TypeORM's manager keeps setting a time that repositories set as well. */
export const isKeptTime = (mode: ColumnArgs['mode'], { role }: Decorated = {}): boolean =>
  role !== undefined && MODE_OF.get(role) === mode

/**
 * Leaves a table's times to TypeORM's manager, too: of `@CreateTime() @CreateDateColumn()`, in either order,
 * TypeORM's column remains, which has a type for our readers.
 */
export function keepTimes(classes: ReadonlySet<unknown>, properties: ReadonlyMap<string, Decorated>): void {
  const { columns } = getMetadataArgsStorage()
  const kept = columns.filter(
    ({ target, propertyName, mode }) => classes.has(target) && isKeptTime(mode, properties.get(propertyName)),
  )
  for (const { target, propertyName, options } of kept) {
    options.type ??= Date
    const ours = columns.findIndex(
      (one) => one.target === target && one.propertyName === propertyName && one.mode === 'regular',
    )
    if (ours >= 0) columns.splice(ours, 1)
  }
}
