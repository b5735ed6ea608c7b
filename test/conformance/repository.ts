import { batches } from './repository/batches.js'
import { counts } from './repository/counts.js'
import { filters } from './repository/filters/filters.js'
import { modifications } from './repository/concurrency/modifications.js'
import { lists } from './repository/lists.js'
import { manyRows } from './repository/many-rows.js'
import { orders } from './repository/orders.js'
import { rowConditions } from './repository/row-conditions.js'
import { signals } from './repository/concurrency/signals.js'
import { pageBytes } from './repository/pages/page-bytes.js'
import { states } from './repository/states.js'
import type { Holder } from './repository/subject.js'
import { tenancy } from './repository/tenancy.js'
import { tokens } from './repository/pages/tokens.js'
import { transactions } from './repository/transactions.js'
import { clockJumps } from './repository/concurrency/clock-jumps.js'
import { updates } from './repository/updates.js'
import { predicates } from './repository/filters/predicates.js'
import { values } from './repository/values.js'

/** Everything a repository has to do, whatever is behind it. */
export const REPOSITORY_PARTS = {
  states,
  clockJumps,
  updates,
  batches,
  lists,
  pageBytes,
  counts,
  modifications,
  orders,
  tokens,
  filters,
  rowConditions,
  manyRows,
  predicates,
  tenancy,
  values,
  signals,
  transactions,
}

export const repositoryConformance = (holder: Holder): void => {
  for (const part of Object.values(REPOSITORY_PARTS)) part(holder)
}
