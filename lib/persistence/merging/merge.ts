import type { DataSource } from 'typeorm'

const MERGES = ['off', 'tenant', 'all'] as const

/** Whose calls share a statement: those of all tenants, those of one tenant, or nobody's. */
export type Merge = (typeof MERGES)[number]

export interface MergeOptions {
  /**
   * Whose calls share a statement while many of them are in flight: `get`, `lookupBy…Hash` and `verify…` on
   * every database, `create`, `update` and soft deletes on PostgreSQL. `all`: those of every tenant, each row
   * compared with what its call asked for. `tenant`: those of one tenant. `off`: every call has its own
   * statement. Default: what a HotDataSource says, else `all`.
   */
  readonly merge?: Merge
}

/** @throws TypeError for another value. */
export function mergeOf(dataSource: DataSource, { merge }: MergeOptions): Merge {
  const asked = merge ?? (dataSource.options as MergeOptions).merge ?? 'all'
  if (!MERGES.includes(asked))
    throw new TypeError(`merge: '${String(asked)}' is none of ${MERGES.join(', ')}`)
  return asked
}
