import { RequestContext } from '../../context.js'
import type { OperationOptions } from '../contract/repository.js'

type Operands = readonly unknown[]

/** Runs around the call of a method, whose result it returns. @param run - calls the method. */
export type Around = (name: string, operands: Operands, run: () => unknown) => unknown

/** The repositories that views show. */
const shown = new WeakMap<object, object>()

/** The methods of the framework's own repositories. */
const ownMethods = new WeakSet<object>()

/**
 * The repository with `around` around each of its methods. A method runs on the repository itself, so that it
 * finds private fields, and what it calls with `this` does not pass `around` again.
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

/** The repository that a view shows; the repository itself otherwise. */
export const shownBy = (repository: object): object => shown.get(repository) ?? repository

/** The context of the call: the one in its options, or the current one. */
export const contextOf = (operands: Operands): RequestContext => {
  const contexts = operands.map((operand) => (operand as OperationOptions | null | undefined)?.context)
  return contexts.find((context) => context instanceof RequestContext) ?? RequestContext.current()
}

/** Records the methods of a class of the framework, for `isOverridden`, and returns their names. */
export const recordOwn = (prototype: object): readonly string[] =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { value }]) => {
    if (typeof value !== 'function' || name === 'constructor') return []
    ownMethods.add(value as object)
    return [name]
  })

/** True if an application overrides the method of the framework's class. */
export const isOverridden = (repository: object, name: string): boolean => {
  const method: unknown = Reflect.get(shownBy(repository), name)
  return !(typeof method === 'function' && ownMethods.has(method))
}
