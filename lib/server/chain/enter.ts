import { RequestContext } from '../../context.js'

/**
 * Runs `fn` in the context of its call, inside the transaction that an interceptor has opened for the call.
 */
export const enter = <T>(context: RequestContext, fn: () => T): T => {
  const around = RequestContext.current()
  const isInside = around.transaction !== undefined && around.isOfSameCallAs(context)
  return (isInside ? context.with({ transaction: around.transaction }) : context).run(fn)
}
