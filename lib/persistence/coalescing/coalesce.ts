import type { DataSource } from 'typeorm'

const COALESCES = ['off', 'tenant', 'all'] as const

/** The calls that share a statement: of all tenants, of one tenant, or none. */
export type Coalesce = (typeof COALESCES)[number]

export interface CoalesceOptions {
  /**
   * The calls that share a statement while many of them are in flight: `get`, `lookupBy…Hash` and `verify…`
   * on every database, `create`, `update` and soft deletes on PostgreSQL. `all`: those of every tenant, each
   * row compared with the request of its call. `tenant`: those of one tenant. `off`: every call has its own
   * statement. Default: the HotDataSource's setting, or `all`.
   */
  readonly coalesce?: Coalesce
}

/** @throws TypeError for another value. */
export function mergeOf(dataSource: DataSource, { coalesce }: CoalesceOptions): Coalesce {
  const asked = coalesce ?? (dataSource.options as CoalesceOptions).coalesce ?? 'all'
  if (!COALESCES.includes(asked))
    throw new TypeError(`coalesce: '${String(asked)}' is not one of ${COALESCES.join(', ')}`)
  return asked
}
