import { RequestContext } from '../../context.js'
import { type OperationOptions, OPTIONS_AT, type Repository } from './repository.js'
import { watched } from './open-transaction.js'

type Operation<R> = (this: R, ...operands: unknown[]) => Promise<unknown>

/**
 * Has the operations of a class tell the transaction that they join about the promises that they return.
 * @param databaseOf - what a transaction of the repository belongs to.
 */
export function watchOperations<R extends Pick<Repository<object>, 'model'>>(
  prototype: R,
  databaseOf: (repository: R) => object,
): void {
  for (const [name, at] of Object.entries(OPTIONS_AT)) {
    const operation = (prototype as unknown as Readonly<Record<string, Operation<R>>>)[name] as Operation<R>
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value: Object.defineProperties(
        function (this: R, ...operands: unknown[]) {
          const call = operation.apply(this, operands)
          const given = (operands[at] as OperationOptions | undefined)?.context
          const isOutside =
            RequestContext.current().transaction === undefined && given?.transaction === undefined
          return isOutside
            ? call
            : watched(databaseOf(this), given, `${this.model.entity.name}.${name}`, call)
        },
        Object.getOwnPropertyDescriptors({ name, length: operation.length }),
      ),
    })
  }
}
