import { RequestContext } from '../../context.js'
import { contextGiven, TAKES_CONTEXT } from '../../persistence/repository/options-at.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { enter } from '../chain/enter.js'

/** The operations that standard methods call. */
const OPERATIONS = [
  'get',
  'list',
  'count',
  'create',
  'update',
  'delete',
  'undelete',
  'batchGet',
  'batchUpdate',
  'batchDelete',
  'transaction',
] as const

type Operation = (typeof OPERATIONS)[number]
type AnyOperation = (...operands: unknown[]) => unknown

/**
 * The repository as standard methods call it. Operations that the application overrides find the context of
 * the call with `RequestContext.current()`. The others are called directly, because entering a context makes
 * every promise of a Node 20 process slower.
 */
export function withContextInOverrides(repository: Repository<object>): Repository<object> {
  const overridden = OPERATIONS.filter((name) => isOverridden(repository, name))
  if (overridden.length === 0) return repository
  const entered = new Map<PropertyKey, AnyOperation>(
    overridden.map((name) => [name, inContext(repository, name)]),
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
  (repository: Repository<object>, name: Operation): AnyOperation =>
  (...operands) => {
    const context = contextGiven(name, operands) ?? RequestContext.current()
    return enter(context, () => (repository[name] as AnyOperation).apply(repository, operands))
  }

/** Whether a subclass overrides the operation of the framework's class. */
export const isOverridden = (owner: object | null, name: Operation): boolean =>
  owner === null ||
  (Object.hasOwn(owner, name)
    ? !Object.hasOwn(owner, TAKES_CONTEXT)
    : isOverridden(Object.getPrototypeOf(owner) as object | null, name))
