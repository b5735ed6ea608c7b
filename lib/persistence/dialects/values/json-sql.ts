import type { Shape } from '../../../resource/free-form/shape.js'
import type { Facets } from '../../../resource/kinds/kind.js'
import type { WriteText } from './tag-sql.js'

/** A leaf of free-form JSON as a condition reads it: a value of one type, or 1 for JSON of a shape. */
export type LeafType = 'string' | 'number' | 'boolean' | Shape

/**
 * SQL about the JSON of messages and lists; `column` is SQL. The keys come from a declaration and are plain
 * words. What another writer stored in another shape is as if it were not there, and never an error.
 */
export interface JsonSql {
  /** True if the field has a value; may be unknown where it has none. */
  readonly isSet: (column: string, keys: readonly string[]) => string
  /** True if a message is there; the column's own without keys. */
  readonly isObject: (column: string, keys: readonly string[]) => string
  /**
   * A leaf of free-form JSON; NULL where there is none of the type, and for JSON's null.
   * @param keys - of a declaration. @param path - of a caller.
   */
  readonly leaf: (
    column: string,
    keys: readonly string[],
    path: readonly string[],
    type: LeafType,
    write: WriteText,
  ) => string
  /** A number or a boolean as a field inside of it gives it. */
  readonly literal: (value: number | boolean) => string
  /** True if a list holds a scalar; never NULL. */
  readonly holds: (
    column: string,
    value: string | number | boolean,
    write: WriteText,
    field: Pick<Facets, 'list'>,
  ) => string
}
