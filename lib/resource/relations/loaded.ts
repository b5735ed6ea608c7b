/** The type of a property, without the array around it. */
type Item<V> = V extends readonly (infer One)[] ? One : V

/**
 * True for the type of an entity: it has a key and is not a message. The type of a JSON column may look the
 * same.
 */
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

/** The properties of an entity that contain other resources. */
export type RelationNames<T> = {
  [K in keyof T & string]-?: true extends IsEntity<Item<NonNullable<T[K]>>> ? K : never
}[keyof T & string]

/** Limits the depth at which the compiler checks a relation path. */
type Deeper = [never, 0, 1]

/** A relation, or a path of at most three relations such as `project.owner`. */
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
 * An entity that was read together with the relations on these paths. A relation without a target, or with a
 * deleted one, is `undefined`; a list is then empty.
 */
export type Loaded<T, P extends string> = unknown extends P
  ? T // For the comparison of an override with the overridden method.
  : [P] extends [never]
    ? T
    : {
        // Comes before the entity's own type, so that array methods have the loaded element type.
        [K in Head<P> & keyof T & string]-?: NonNullable<T[K]> extends readonly unknown[]
          ? LoadedValue<NonNullable<T[K]>, Below<P, K>>
          : LoadedValue<NonNullable<T[K]>, Below<P, K>> | undefined
      } & T
