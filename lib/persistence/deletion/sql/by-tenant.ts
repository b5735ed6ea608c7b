import type { StoredRow } from '../rules/stored-rows.js'

/** The rows of each tenant, in key order, so that two deletions never wait for each other. */
export function byTenant(
  rows: readonly StoredRow[],
): readonly { readonly tenant: string | undefined; readonly rows: readonly StoredRow[] }[] {
  const groups = new Map<string | undefined, StoredRow[]>()
  for (const row of rows) {
    const group = groups.get(row.tenant)
    if (group === undefined) groups.set(row.tenant, [row])
    else group.push(row)
  }
  return [...groups].map(([tenant, of]) => ({ tenant, rows: of }))
}
