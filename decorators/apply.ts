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
  if (typeof second !== 'object' || second === null || !('kind' in second)) return
  const { name = 'a class' } = second as { readonly name?: string | symbol | undefined }
  throw new DeclarationError(String(name), [
    `${decorator} was compiled as a standard (TC39) decorator, and TypeORM's are of the older kind: set "experimentalDecorators": true and "emitDecoratorMetadata": true in the compilerOptions of tsconfig.json, and the like where something else than tsc compiles`,
  ])
}

/**
 * An entity begins with @PrimaryColumn(), so that none of ours is reached: TypeORM's asks for the type of its property first,
 * which of a standard decorator ends in a TypeError without a word. This gives it the words; every other call is as it was.
 */
const { getMetadata } = Reflect
Reflect.getMetadata = (
  ...[key, target, property]: [unknown, object | undefined, (string | symbol)?]
): unknown => {
  if (target === undefined) refuseStandard("a decorator of TypeORM's", property)
  return property === undefined
    ? (getMetadata(key, target as object) as unknown)
    : (getMetadata(key, target as object, property) as unknown)
}
