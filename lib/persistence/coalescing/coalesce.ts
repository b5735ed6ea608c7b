import type { DataSource } from 'typeorm'

/** Which calls may share a statement: calls of all tenants, calls of one tenant, or none. */
export type Coalesce = 'off' | 'tenant' | 'all'

const COALESCES: readonly Coalesce[] = ['off', 'tenant', 'all']

export interface CoalesceOptions {
  /**
   * Which calls share a statement when many are in flight. Coalescing applies to `get`, `lookupBy…Hash` and
   * `verify…` on every database, and to `create`, `update` and soft deletes on PostgreSQL.
   *
   * - `all`: calls of all tenants share statements. Every returned row is checked against the request of its
   *   call.
   * - `tenant`: only calls of the same tenant share a statement.
   * - `off`: every call has its own statement.
   *
   * Default: the setting of the `HotDataSource`, or `all`.
   */
  readonly coalesce?: Coalesce
}

/**
 * Returns the `coalesce` option, the data source's setting or the default.
 *
 * @throws TypeError if the value is unknown.
 */
export function coalesceOf(dataSource: DataSource, { coalesce }: CoalesceOptions): Coalesce {
  const asked = coalesce ?? (dataSource.options as CoalesceOptions).coalesce ?? 'all'
  if (!COALESCES.includes(asked))
    throw new TypeError(`coalesce: '${String(asked)}' is not one of ${COALESCES.join(', ')}`)
  return asked
}
