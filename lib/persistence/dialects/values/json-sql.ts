import type { Facets } from '../../../resource/kinds/kind.js'
import type { WriteText } from './tag-sql.js'

/**
 * SQL about the JSON of messages and lists; `column` is SQL. The keys come from a declaration and are plain
 * words. What another writer stored in another shape is as if it were not there, and never an error.
 */
export interface JsonSql {
  /** True if the field has a value; may be unknown where it has none. */
  readonly isSet: (column: string, keys: readonly string[]) => string
  /** True if a message is there; the column's own without keys. */
  readonly isObject: (column: string, keys: readonly string[]) => string
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
