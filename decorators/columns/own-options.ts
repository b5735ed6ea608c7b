import type { getMetadataArgsStorage } from 'typeorm'

type ColumnArgs = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

const owned = new WeakSet<ColumnArgs>()

/**
 * Gives every column options of its own. TypeORM keeps the object that its decorator was called with, which
 * other properties and other classes may have as well, and which may be frozen.
 */
export function ownOptions(columns: readonly ColumnArgs[]): void {
  for (const column of columns) {
    if (owned.has(column)) continue
    owned.add(column)
    Object.assign(column, { options: { ...column.options } })
  }
}
