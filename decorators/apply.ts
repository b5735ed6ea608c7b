import 'reflect-metadata'
import { DeclarationError } from '../lib/errors.js'

/**
 * A decorator of a class. TypeORM's decorators, and so these, are of the kind that TypeScript calls experimental; the
 * standard kind is called with a context object and is refused.
 */
export const onClass =
  (name: string, apply: (entity: object & { readonly prototype: unknown }) => void): ClassDecorator =>
  (entity, ...rest: readonly unknown[]) => {
    refuseStandard(`@${name}()`, rest[0])
    apply(entity)
  }

/** A decorator of a property, of the same kind. */
export const onProperty =
  (name: string, apply: (prototype: object, property: string) => void): PropertyDecorator =>
  (prototype, property) => {
    refuseStandard(`@${name}()`, property)
    apply(prototype, String(property))
  }

/** @throws DeclarationError where the second argument of a decorator is the context of a standard one. */
export function refuseStandard(decorator: string, second: unknown): void {
  endWords?.()
  if (typeof second !== 'object' || second === null || !('kind' in second)) return
  const { name = 'a class' } = second as { readonly name?: string | symbol | undefined }
  throw new DeclarationError(String(name), [
    `${decorator} was compiled as a standard (TC39) decorator, and TypeORM's are of the older kind: set "experimentalDecorators": true and "emitDecoratorMetadata": true in the compilerOptions of tsconfig.json, and the like where something else than tsc compiles`,
  ])
}

/**
 * Gives words to TypeORM's decorators of properties, with one of which an entity begins: they ask for the type of the property
 * first, which of a standard decorator ends in a TypeError without a word. A standard decorator of a class is made before those
 * of its properties are called, so `@Resource()` begins this when it is made. The first of our decorators that is called ends
 * it, or the end of the running task: nobody else sees the changed function.
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
