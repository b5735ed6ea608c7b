import type { Holder } from './subject.js'
import { afterCommit } from './transactions/after-commit.js'
import { joins } from './transactions/joins.js'
import { savepoints } from './transactions/savepoints.js'
import { unawaited } from './transactions/unawaited.js'

/** Transactions that repository calls join. */
export const transactions = (holder: Holder): void => {
  for (const part of [savepoints, joins, unawaited, afterCommit]) part(holder)
}
