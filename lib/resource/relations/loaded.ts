/** The type of a property of the entity, without the array around it. */
type Item<V> = V extends readonly (infer One)[] ? One : V

/** An entity has a key, and is not a message. A value that a column keeps may look the same. */
type IsEntity<V> = [V] extends [never]
  ? false
  : V extends
        string | number | bigint | boolean | symbol | Date | Uint8Array | ((...values: never[]) => unknown)
    ? false
    : V extends { readonly $typeName: string }
      ? false
      : V extends { id: string | number | bigint } | { name: string }
        ? true
        : false

/** The properties of an entity that hold other resources. */
export type RelationNames<T> = {
  [K in keyof T & string]-?: true extends IsEntity<Item<NonNullable<T[K]>>> ? K : never
}[keyof T & string]

/** The depth to which the compiler checks a path of relations. */
type Deeper = [never, 0, 1]

/** A relation, or a path of relations of at most three: `project.owner`. */
export type RelationPath<T, Depth extends number = 2> = {
  [K in RelationNames<T>]:
    | K
    | ([Depth] extends [0]
        ? never
        : `${K}.${RelationPath<Item<NonNullable<T[K]>>, Extract<Deeper[Depth], number>>}`)
}[RelationNames<T>]

type Head<P extends string> = P extends `${infer First}.${string}` ? First : P
type Below<P extends string, K extends string> = P extends `${K}.${infer Rest}` ? Rest : never

type LoadedValue<V, P extends string> = V extends readonly (infer One)[] ? Loaded<One, P>[] : Loaded<V, P>

/**
 * An entity whose relations of these paths were read with it. One that refers to nothing, or to a deleted
 * resource, has `undefined` there; a list is empty.
 */
export type Loaded<T, P extends string> = unknown extends P
  ? T // Where the compiler compares an override with what it overrides.
  : [P] extends [never]
    ? T
    : {
        // Before the entity itself, so that an array's methods are the loaded array's.
        [K in Head<P> & keyof T & string]-?: NonNullable<T[K]> extends readonly unknown[]
          ? LoadedValue<NonNullable<T[K]>, Below<P, K>>
          : LoadedValue<NonNullable<T[K]>, Below<P, K>> | undefined
      } & T
