import type { RequestContext } from '../../context.js'
import { surrounding, TransactionChain } from '../contract/open-transaction.js'

/** Calls hooks after a read, in a context that knows their calls. */
export async function withLoadHooks(
  context: RequestContext,
  given: RequestContext | undefined,
  call: (inside: RequestContext) => Promise<void> | undefined,
): Promise<void> {
  const transaction = TransactionChain.ofHooks(surrounding(given))
  try {
    await call(context.with({ transaction }))
  } finally {
    transaction.hookCalls?.over()
  }
}
