import { RequestContext } from '../../context.js'
import type { OperationOptions } from './repository.js'
import { watched } from './open-transaction.js'

/** Where each operation of a repository takes its options. */
const OPTIONS_AT: Readonly<Record<string, number>> = {
  get: 1,
  list: 1,
  count: 1,
  exists: 1,
  create: 1,
  update: 3,
  modify: 2,
  delete: 1,
  undelete: 1,
  batchGet: 1,
  batchUpdate: 1,
  batchDelete: 1,
  purgeExpired: 1,
  transaction: 1,
  lookup: 2,
  reveal: 2,
  verify: 2,
  remint: 2,
}

/** The context that a call of the operation was given explicitly. */
export const contextGiven = (name: string, operands: readonly unknown[]): RequestContext | undefined => {
  const at = OPTIONS_AT[name]
  return at === undefined ? undefined : (operands[at] as OperationOptions | undefined)?.context
}

type Operation<R> = (this: R, ...operands: unknown[]) => Promise<unknown>

/**
 * Has the operations of a class tell the transaction that they join about the promises that they return.
 * @param databaseOf - what a transaction of the repository belongs to.
 */
export function watchOperations<R extends object>(prototype: R, databaseOf: (repository: R) => object): void {
  for (const [name, at] of Object.entries(OPTIONS_AT)) {
    const operation = (prototype as Readonly<Record<string, Operation<R>>>)[name] as Operation<R>
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value: Object.defineProperties(
        function (this: R, ...operands: unknown[]) {
          const call = operation.apply(this, operands)
          const given = (operands[at] as OperationOptions | undefined)?.context
          const isOutside =
            RequestContext.current().transaction === undefined && given?.transaction === undefined
          return isOutside ? call : watched(databaseOf(this), given, call)
        },
        Object.getOwnPropertyDescriptors({ name, length: operation.length }),
      ),
    })
  }
}
