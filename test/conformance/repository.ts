import { batches } from './batches.js'
import { filters } from './filters.js'
import { lists } from './lists.js'
import { orders } from './orders.js'
import { states } from './states.js'
import type { Holder } from './subject.js'
import { tenancy } from './tenancy.js'
import { tokens } from './tokens.js'
import { transactions } from './transactions.js'
import { updates } from './updates.js'
import { values } from './values.js'

/** Everything a repository has to do, whatever is behind it. */
export const repositoryConformance = (holder: Holder): void => {
  for (const part of [
    states,
    updates,
    batches,
    lists,
    orders,
    tokens,
    filters,
    tenancy,
    values,
    transactions,
  ])
    part(holder)
}
