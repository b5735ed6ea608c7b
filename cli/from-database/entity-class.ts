/** An SQL expression, which a decorator contains as a function. */
export class Sql {
  constructor(readonly text: string) {}
}

/** The target class of a relation or a foreign key. */
export class Target {
  constructor(readonly name: string) {}
}

export type Value =
  string | number | boolean | Sql | Target | readonly Value[] | { readonly [name: string]: Value }

/** A decorator of TypeORM or Ashlar with its arguments. */
export interface Decorator {
  readonly name: string
  readonly args: readonly Value[]
}

export interface ClassProperty {
  readonly name: string
  readonly decorators: readonly Decorator[]
  /** The TypeScript type. */
  readonly type: string
  /** The class that the compiler emits as the property's type. */
  readonly design: Function
  readonly isOptional: boolean
}

/**
 * The description of an entity class, from which the source of its module and the class itself are created.
 */
export interface EntityClass {
  readonly name: string
  readonly decorators: readonly Decorator[]
  readonly properties: readonly ClassProperty[]
}
