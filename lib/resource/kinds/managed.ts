import type { ColumnOptions, ValueTransformer } from 'typeorm'
import type { Facets, Kind, ManagedColumn } from './kind.js'

/**
 * Returns the conversions of a kind whose class TypeORM knows and whose values TypeORM uses unchanged.
 * @param type - the class.
 */
export const managedAs = (
  type: StringConstructor | NumberConstructor | BooleanConstructor | DateConstructor,
): ManagedColumn => ({
  type: (declared) => (isClass(declared) && declared !== type ? type : undefined),
})

/** Returns the transformers that an application gave a column, in order; undefined if there are none. */
export function transformersOf({ transformer }: ColumnOptions): readonly ValueTransformer[] | undefined {
  const own = [transformer ?? []].flat().filter((one) => !(one instanceof ManagedValues))
  return own.length === 0 ? undefined : own
}

/** Returns true if a column names a class instead of a database type. */
export const isClass = (declared: unknown): boolean => typeof declared === 'function'

/** Converts the values of a column between TypeORM's own manager and an entity. */
export class ManagedValues implements ValueTransformer {
  /**
   * @param type - the column's type in TypeORM.
   * @param holds - distinguishes the message fields that share the column: a base class of several resources
   * declares it once.
   */
  constructor(
    readonly kind: Kind,
    readonly field: Facets & { readonly proto: string },
    private readonly type: unknown,
    readonly holds: string,
  ) {}

  to(value: unknown): unknown {
    const { to } = this.kind.managed
    if (isNothing(value)) return value
    const { held } = this.field
    const own = held === undefined ? value : (held.toOwn(value) ?? value)
    return to === undefined ? own : to(own, this.field, this.type)
  }

  from(read: unknown): unknown {
    const { from } = this.kind.managed
    if (isNothing(read)) return read
    const own = from === undefined ? read : from(read, this.field, this.type)
    return this.field.held === undefined ? own : this.field.held.fromOwn(own)
  }
}

/** Replaces the values of an inherited column if the messages of two resources disagree about its type. */
export class UnclearValues extends ManagedValues {
  override to(value: unknown): unknown {
    return isNothing(value) ? value : this.#refuse()
  }

  override from(read: unknown): unknown {
    return isNothing(read) ? read : this.#refuse()
  }

  #refuse(): never {
    throw new TypeError(
      `${this.field.proto} is inherited by several resources, whose messages give it different types: declare it in each of them to use it with TypeORM's manager`,
    )
  }
}

const isNothing = (value: unknown): boolean => value === undefined || value === null
