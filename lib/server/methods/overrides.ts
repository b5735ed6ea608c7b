import { RequestContext } from '../../context.js'
import {
  type OperationOptions,
  type Repository,
  TAKES_CONTEXT,
} from '../../persistence/contract/repository.js'
import { enter } from '../chain/enter.js'

/** The operations that standard methods call, with the index of their options. */
const OPTIONS_AT = {
  get: 1,
  list: 1,
  count: 1,
  create: 1,
  update: 3,
  delete: 1,
  undelete: 1,
  batchGet: 1,
  batchUpdate: 1,
  batchDelete: 1,
} as const

type Operation = keyof typeof OPTIONS_AT
type AnyOperation = (...operands: unknown[]) => unknown

/**
 * The repository as standard methods call it. Operations that the application overrides find the context of the call
 * with `RequestContext.current()`. The others are called directly, because entering a context makes every promise of a
 * Node 20 process slower.
 */
export function withContextInOverrides(repository: Repository<object>): Repository<object> {
  const overridden = (Object.keys(OPTIONS_AT) as Operation[]).filter((name) => isOverridden(repository, name))
  if (overridden.length === 0) return repository
  const entered = new Map<PropertyKey, AnyOperation>(
    overridden.map((name) => [name, inContext(repository, name, OPTIONS_AT[name])]),
  )
  // A proxy of a frozen repository would have to return its operations unchanged.
  return new Proxy(Object.create(repository) as Repository<object>, {
    get: (_, name) => {
      const operation = entered.get(name)
      if (operation !== undefined) return operation
      const value: unknown = Reflect.get(repository, name, repository)
      return typeof value === 'function' ? (value.bind(repository) as unknown) : value
    },
  })
}

const inContext =
  (repository: Repository<object>, name: Operation, optionsAt: number): AnyOperation =>
  (...operands) => {
    const context = (operands[optionsAt] as OperationOptions | undefined)?.context ?? RequestContext.current()
    return enter(context, () => (repository[name] as AnyOperation).apply(repository, operands))
  }

/** Whether a subclass overrides the operation of the framework's class. */
export const isOverridden = (owner: object | null, name: Operation): boolean =>
  owner === null ||
  (Object.hasOwn(owner, name)
    ? !Object.hasOwn(owner, TAKES_CONTEXT)
    : isOverridden(Object.getPrototypeOf(owner) as object | null, name))
