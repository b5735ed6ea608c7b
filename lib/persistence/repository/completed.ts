import type { RequestContext } from '../../context.js'
import { surrounding, TransactionChain } from '../contract/open-transaction.js'
import type { OperationOptions } from '../contract/repository.js'
import { entitiesRead } from '../hooks/call-hooks.js'
import type { RowCall } from '../rows/row-call.js'
import type { ReadOperation } from './operations.js'
import type { RowsBackend } from './rows-backend.js'

type Reading<E extends object, C extends RowCall> = Pick<
  RowsBackend<E, C, RequestContext>,
  'hooks' | 'relations' | 'managerOf'
>

/**
 * Returns the result after its relations are read and its AfterLoad hooks have run. Returns it immediately if
 * there are neither.
 */
export const completed = <E extends object, C extends RowCall, T>(
  backend: Reading<E, C>,
  name: string,
  operation: ReadOperation<C>,
  result: T,
  paths: readonly string[] | undefined,
  options: OperationOptions | undefined,
): T | Promise<T> =>
  paths === undefined && !backend.hooks.listensTo('AfterLoad')
    ? result
    : complete(backend, name, operation, result, paths, options)

async function complete<E extends object, C extends RowCall, T>(
  { relations, hooks, managerOf }: Reading<E, C>,
  name: string,
  { call, scope }: ReadOperation<C>,
  result: T,
  paths: readonly string[] = [],
  options?: OperationOptions,
): Promise<T> {
  if (paths.length > 0) await relations.read(entitiesRead(name, result), paths, { at: call, scope, options })
  if (!hooks.listensTo('AfterLoad')) return result
  const transaction = TransactionChain.ofHooks(surrounding(options?.context))
  try {
    await hooks.loaded(name, result, scope.context.with({ transaction }), () => managerOf(call))
    return result
  } finally {
    transaction.hookCalls?.over()
  }
}
