/** An SQL expression, which is a function in a decorator. */
export class Sql {
  constructor(readonly text: string) {}
}

/** The class that a relation or a foreign key refers to. */
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
  /** Its TypeScript type. */
  readonly type: string
  /** The class that the compiler writes as its type. */
  readonly design: Function
  readonly isOptional: boolean
}

/** An entity class: the source of its module and the class itself are made from this. */
export interface EntityClass {
  readonly name: string
  readonly decorators: readonly Decorator[]
  readonly properties: readonly ClassProperty[]
}
