import { RequestContext } from '../../context.js'
import type { OperationOptions } from '../contract/repository.js'

type Operands = readonly unknown[]

/**
 * Runs around a method call and returns its result.
 *
 * @param run - calls the method.
 */
export type Around = (name: string, operands: Operands, run: () => unknown) => unknown

/** The repository behind each view. */
const shown = new WeakMap<object, object>()

/** The methods of Ashlar's own repositories. */
const ownMethods = new WeakSet<object>()

/**
 * Returns a view of the repository that calls `around` for each method. The method itself runs on the
 * repository, so that private fields work. Calls on `this` do not pass through `around` again.
 */
export function viewOf<R extends object>(repository: R, around: Around): R {
  const view = Object.create(Object.getPrototypeOf(repository) as object) as R
  for (
    let owner: object = repository;
    owner !== Object.prototype;
    owner = Object.getPrototypeOf(owner) as object
  )
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(owner)))
      if (name !== 'constructor' && !Object.hasOwn(view, name))
        Object.defineProperty(view, name, seenThrough(repository, name, member, around))
  shown.set(view, repository)
  return view
}

const seenThrough = (
  repository: object,
  name: string,
  { value }: PropertyDescriptor,
  around: Around,
): PropertyDescriptor => {
  const member = (): unknown => Reflect.get(repository, name)
  if (typeof value !== 'function') return { get: member, configurable: true }
  const run = (operands: Operands) => (): unknown =>
    Reflect.apply(member() as (...all: unknown[]) => unknown, repository, operands)
  return { value: (...operands: Operands) => around(name, operands, run(operands)), configurable: true }
}

/** Returns the repository behind a view, or the repository itself. */
export const shownBy = (repository: object): object => shown.get(repository) ?? repository

/** Returns the context in the options of a call, or the current one. */
export const contextOf = (operands: Operands): RequestContext => {
  const contexts = operands.map((operand) => (operand as OperationOptions | null | undefined)?.context)
  return contexts.find((context) => context instanceof RequestContext) ?? RequestContext.current()
}

/** Records the methods of one of Ashlar's classes for `isOverridden`, and returns their names. */
export const recordOwn = (prototype: object): readonly string[] =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { value }]) => {
    if (typeof value !== 'function' || name === 'constructor') return []
    ownMethods.add(value as object)
    return [name]
  })

/** Returns true if the application overrides a method of Ashlar's class. */
export const isOverridden = (repository: object, name: string): boolean => {
  const method: unknown = Reflect.get(shownBy(repository), name)
  return !(typeof method === 'function' && ownMethods.has(method))
}
