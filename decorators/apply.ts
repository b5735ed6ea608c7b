import 'reflect-metadata'
import { DeclarationError, problem } from '../lib/errors.js'
import { declareCall } from './entity-facts.js'

/**
 * Makes a class decorator. TypeORM's decorators, and so these, are TypeScript's experimental decorators. A
 * standard decorator is called with a context object and is refused.
 * @param given - what the decorator was called with, which the resource model checks.
 */
export const onClass =
  (
    name: string,
    given: readonly unknown[],
    apply: (entity: object & { readonly prototype: unknown }) => void,
  ): ClassDecorator =>
  (entity, ...rest: readonly unknown[]) => {
    refuseStandard(`@${name}()`, rest[0])
    apply(entity)
    declareCall(entity, { decorator: name, property: undefined, given })
  }

/** Makes a property decorator, likewise. */
export const onProperty =
  (
    name: string,
    given: readonly unknown[],
    apply: (prototype: object, property: string) => void,
  ): PropertyDecorator =>
  (prototype, property) => {
    refuseStandard(`@${name}()`, property)
    apply(prototype, String(property))
    declareCall(prototype.constructor, { decorator: name, property: String(property), given })
  }

/** @throws DeclarationError when the second argument of a decorator is the context of a standard one. */
export function refuseStandard(decorator: string, second: unknown): void {
  endWords?.()
  if (typeof second !== 'object' || second === null || !('kind' in second)) return
  const { name = 'a class' } = second as { readonly name?: string | symbol | undefined }
  throw new DeclarationError(String(name), [
    problem(
      'decorator',
      `${decorator} was compiled as a standard (TC39) decorator, but TypeORM uses legacy decorators`,
      `set "experimentalDecorators": true and "emitDecoratorMetadata": true in the compilerOptions of tsconfig.json, or the equivalent if you do not compile with tsc`,
    ),
  ])
}

/**
 * Makes TypeORM's property decorators report that they were compiled as standard decorators. They first ask
 * for the type of the property, which in a standard decorator ends in a bare TypeError. A standard class
 * decorator is made before those of its properties are called, so making `@Resource()` begins this. The first
 * call of our decorators ends it, or the end of the running task: no other code sees the changed function.
 */
export function wordStandardProperties(): void {
  const descriptor = Object.getOwnPropertyDescriptor(Reflect, 'getMetadata')
  if (endWords !== undefined || descriptor?.configurable !== true) return
  const { getMetadata } = Reflect
  const worded = (key: unknown, target: object | undefined, ...rest: (string | symbol)[]): unknown => {
    if (target === undefined) refuseStandard("a decorator of TypeORM's", rest[0])
    return Reflect.apply(getMetadata, Reflect, [key, target, ...rest])
  }
  Object.defineProperty(Reflect, 'getMetadata', { ...descriptor, value: worded })
  const end = () => {
    if (endWords === end) endWords = undefined
    if (Reflect.getMetadata === worded) Object.defineProperty(Reflect, 'getMetadata', descriptor)
  }
  endWords = end
  queueMicrotask(end)
}

let endWords: (() => void) | undefined
