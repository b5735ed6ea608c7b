import type { Shape } from '../../../resource/free-form/shape.js'
import type { Facets } from '../../../resource/kinds/kind.js'
import type { WriteText } from './tag-sql.js'

/** The type of a leaf of free-form JSON in a condition. A shape yields 1 if the JSON has it. */
export type LeafType = 'string' | 'number' | 'boolean' | Shape

/**
 * Reads the JSON of messages and lists. `column` is SQL. Keys come from declarations and are plain words.
 * Values that another writer stored in a different shape count as missing and never cause an error.
 */
export interface JsonSql {
  /** Returns a condition that is true if the field has a value, and false or NULL otherwise. */
  readonly isSet: (column: string, keys: readonly string[]) => string
  /**
   * Returns a condition that is true if the message exists. Without keys, the message is the column's own.
   */
  readonly isObject: (column: string, keys: readonly string[]) => string
  /**
   * Returns a leaf of free-form JSON. NULL if it is missing, has a different type, or is JSON's null.
   *
   * @param keys - keys of a declaration.
   * @param path - keys of a caller.
   */
  readonly leaf: (
    column: string,
    keys: readonly string[],
    path: readonly string[],
    type: LeafType,
    write: WriteText,
  ) => string
  /** Returns a number or boolean in the form that fields inside JSON are selected. */
  readonly literal: (value: number | boolean) => string
  /** Returns a condition that is true if a list contains a scalar, and otherwise false but never NULL. */
  readonly holds: (
    column: string,
    value: string | number | boolean,
    write: WriteText,
    field: Pick<Facets, 'list'>,
  ) => string
}
