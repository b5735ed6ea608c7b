import { RequestContext } from '../../context.js'
import { isThenable } from '../../thenable.js'
import { OPTIONS_AT, TAKES_CONTEXT } from './options-at.js'
import type { OperationOptions, Repository } from '../contract/repository.js'
import { openAround, watched } from '../contract/open-transaction.js'

type Repositories = Pick<Repository<object>, 'model'>
type Operation<R> = (this: R, ...operands: unknown[]) => Promise<unknown>

/** Who hears of the promise that a call has returned. */
type Watch = typeof watched

/** The classes whose operations are watched, by their prototypes. */
const watching = new WeakMap<object, (repository: never) => object>()

/**
 * Has the operations of a class tell the transaction that they join about the promises that they return. They
 * take the context of a call from their options.
 * @param databaseOf - what a transaction of the repository belongs to.
 */
export function watchOperations<R extends Repositories>(
  prototype: R,
  databaseOf: (repository: R) => object,
): void {
  Object.defineProperty(prototype, TAKES_CONTEXT, { value: true })
  watching.set(prototype, databaseOf)
  watchOwn(prototype, databaseOf, watched)
}

/**
 * The same for what the class of a repository overrides. The transaction waits for such a call itself,
 * because it may do something else before it calls the operation that it overrides.
 */
export function watchOverrides<R extends Repositories>(repository: R): void {
  const overriding: R[] = []
  let prototype = Object.getPrototypeOf(repository) as R
  while (!watching.has(prototype)) {
    overriding.push(prototype)
    prototype = Object.getPrototypeOf(prototype) as R
  }
  const databaseOf = watching.get(prototype) as (repository: R) => object
  for (const own of overriding) {
    watching.set(own, databaseOf)
    watchOwn(own, databaseOf, performed)
  }
}

function watchOwn<R extends Repositories>(
  prototype: R,
  databaseOf: (repository: R) => object,
  watch: Watch,
): void {
  for (const [name, at] of Object.entries(OPTIONS_AT)) {
    const own = Object.getOwnPropertyDescriptor(prototype, name)
    if (own?.configurable !== true || typeof own.value !== 'function') continue
    const operation = own.value as Operation<R>
    Object.defineProperty(prototype, name, {
      ...own,
      value: Object.defineProperties(
        function (this: R, ...operands: unknown[]) {
          const call = operation.apply(this, operands)
          const given = (operands[at] as OperationOptions | undefined)?.context
          const isOutside =
            RequestContext.current().transaction === undefined && given?.transaction === undefined
          return isOutside ? call : watch(databaseOf(this), given, `${this.model.entity.name}.${name}`, call)
        },
        Object.getOwnPropertyDescriptors({ name, length: operation.length }),
      ),
    })
  }
}

/** A call of the application's, which the transaction around it has to wait for itself. */
const performed: Watch = (database, given, name, work) => {
  // Code in JavaScript can return anything.
  if (!isThenable(work)) return work
  const transaction = openAround(database, given)
  const call = transaction?.isOpen === true ? transaction.perform(name, () => work) : work
  return watched(database, given, name, call)
}
