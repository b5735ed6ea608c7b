import type { IsCredential } from '../../decorators/credential.js'

declare const SERVER_SET: unique symbol

/**
 * A property that the server sets if it is omitted: `@CreateTime() createTime!: ServerSet<Date>`. If an
 * entity has such a property, `create` requires every other non-optional property at compile time; otherwise
 * it accepts any subset. Plain values are assignable to the type.
 */
export type ServerSet<T> = T & { readonly [SERVER_SET]?: true }

type IsServerSet<T> = 0 extends 1 & T
  ? false
  : [T] extends [never]
    ? false
    : typeof SERVER_SET extends keyof NonNullable<T>
      ? true
      : false

type ServerSetNames<T> = { [K in keyof T]-?: IsServerSet<T[K]> extends true ? K : never }[keyof T]

/**
 * The properties that the caller must give: those that the server neither sets nor generates, without
 * methods.
 */
type Given<T> = {
  [
    K in keyof T as IsServerSet<T[K]> extends true
      ? never
      : IsCredential<NonNullable<T[K]>> extends true
        ? never
        : T[K] extends (...values: never[]) => unknown
          ? never
          : K
  ]: T[K]
}

/**
 * The argument of `create`. If the entity uses {@link ServerSet}, it contains all properties that the caller
 * must give; otherwise any subset.
 */
export type NewEntity<T> = [ServerSetNames<T>] extends [never] ? Partial<T> : Partial<T> & Given<T>
