import type { DataSource } from 'typeorm'

const MERGES = ['off', 'tenant', 'all'] as const

/** The calls that share a statement: of all tenants, of one tenant, or none. */
export type Merge = (typeof MERGES)[number]

export interface MergeOptions {
  /**
   * The calls that share a statement while many of them are in flight: `get`, `lookupBy…Hash` and `verify…`
   * on every database, `create`, `update` and soft deletes on PostgreSQL. `all`: those of every tenant, each
   * row compared with the request of its call. `tenant`: those of one tenant. `off`: every call has its own
   * statement. Default: the HotDataSource's setting, or `all`.
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
