import { refuseStandard } from './apply.js'
import { declare, declareCall, declareSearchable } from './entity-facts.js'

/**
 * A source of searchable text: a property, or an expression. `sql.postgres` is raw SQL over the table's
 * columns. `cel` works on every database (see Search in docs/reference/persistence.md); without it, search
 * needs PostgreSQL.
 */
export type SearchSource =
  string | { readonly sql: { readonly postgres: string }; readonly cel?: string } | { readonly cel: string }

/** Options of `@Searchable()`. */
export interface SearchableOptions {
  /** Further sources, in addition to the properties with `@Searchable()`. */
  readonly sources?: readonly SearchSource[]
  /**
   * `JIT`, the default, computes the search vector in the query. `INDEXED` stores it in `search_vector` with
   * a GIN index.
   */
  readonly strategy?: 'JIT' | 'INDEXED'
  /** The PostgreSQL text search configuration. Default: `simple`. */
  readonly textConfig?: string
}

/**
 * Makes an entity searchable with the parameter `q` of a list. On a property, it marks the property as a
 * source. On the class, it adds expressions and sets the strategy.
 *
 * @example
 * ```ts
 * import { Resource, Searchable } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource({ shared: true })
 * @Entity('articles')
 * @Searchable({ strategy: 'INDEXED', textConfig: 'english' })
 * class Article {
 *   @PrimaryColumn() id!: string
 *   @Searchable() @Column() title!: string
 *   @Searchable() @Column('text') body!: string
 * }
 * ```
 */
export function Searchable(options: SearchableOptions = {}): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => {
    refuseStandard('@Searchable()', property)
    const call = { decorator: 'Searchable', given: [options] }
    if (property === undefined) {
      declare(target, 'Searchable', { searchable: options })
      declareCall(target, { ...call, property: undefined })
    } else {
      declareSearchable(target, property)
      declareCall(target.constructor, { ...call, property: String(property) })
    }
  }
}
