import type { RequestContext } from '../../context.js'
import type { Repository, TransactionOptions } from '../../persistence/contract/repository.js'

/**
 * Runs `work` in a transaction that is always rolled back. Returns the result of `work`, or fails as COMMIT
 * would.
 */
export const dryRun = async <R>(
  repository: Repository<object>,
  context: RequestContext,
  work: (context: RequestContext) => Promise<R>,
  settings: Pick<TransactionOptions, 'isolation'> = {},
): Promise<R> => {
  let outcome: { readonly result: R } | undefined
  try {
    await repository.transaction(
      async (inside) => {
        const { transaction } = inside
        const run = () => work(inside)
        outcome = { result: await (transaction === undefined ? run() : transaction.checked(run)) }
        throw new Rollback()
      },
      { ...settings, context: context.with({ validateOnly: true }) },
    )
  } catch (error) {
    if (outcome === undefined || !(error instanceof Rollback)) throw error
  }
  return (outcome as { readonly result: R }).result
}

/** Thrown to roll the transaction back. */
class Rollback extends Error {}
