import 'reflect-metadata'
import { DeclarationError, problem } from '../lib/errors.js'
import { declareCall } from './entity-facts.js'

/**
 * Returns a class decorator. Ashlar's decorators, like TypeORM's, are TypeScript's experimental decorators. A
 * call as a standard decorator, with a context object, is rejected.
 *
 * @param given - the arguments of the decorator, which the resource model checks.
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

/** Returns a property decorator in the same way. */
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

/**
 * Rejects a call as a standard decorator.
 *
 * @throws DeclarationError if the second argument of a decorator is the context of a standard decorator.
 */
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
 * Makes TypeORM's property decorators report that they were compiled as standard decorators. They first read
 * the property's type, which in a standard decorator fails with an unspecific TypeError. A standard class
 * decorator is created before the decorators of its properties are called, so creating `@Resource()` starts
 * this. It ends with the first call of one of Ashlar's decorators or with the running task. No other code
 * sees the changed function.
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
