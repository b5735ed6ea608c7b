import type { getMetadataArgsStorage } from 'typeorm'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

const owned = new WeakSet<ColumnArgs>()

/**
 * Gives every column its own options object. TypeORM stores the object that was passed to its decorator,
 * which other properties may share and which may be frozen.
 */
export function ownOptions(columns: readonly ColumnArgs[]): void {
  for (const column of columns) {
    if (owned.has(column)) continue
    owned.add(column)
    Object.assign(column, { options: { ...column.options } })
  }
}
