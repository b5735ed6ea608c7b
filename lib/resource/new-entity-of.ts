import type { IsCredential } from '../../decorators/credential.js'

declare const SERVER_SET: unique symbol

/**
 * A property that the server sets where it is not given: `@CreateTime() createTime!: ServerSet<Date>`. In an
 * entity with one of them `create` asks at compile time for every other property that is not optional; an
 * entity without them is created from any part of it. A plain value can be assigned.
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

/** The properties that the caller gives: not set by the server, not generated, and not a method. */
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
 * The argument of `create`: all properties that the caller must give if the entity declares {@link
 * ServerSet}, or any part otherwise.
 */
export type NewEntity<T> = [ServerSetNames<T>] extends [never] ? Partial<T> : Partial<T> & Given<T>
