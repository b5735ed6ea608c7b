/** The properties of an index other than its columns, as in TypeORM. */
export interface SpecialIndex {
  /** The SQL condition of the indexed rows. Other rows are not checked for uniqueness. */
  readonly where?: string
  /**
   * The index type: `spatial`, `fulltext`, or a PostgreSQL type such as `gin`. Default: a B-tree, which
   * TypeORM also creates on an engine without the type.
   */
  readonly method?: string
  /** The parser of a full-text index in MySQL. */
  readonly parser?: string
}

/** The default index type. */
const BTREE = 'btree'

/** Returns the special properties in the options of `@Index()`. TypeORM prefers `spatial` to `type`. */
export const specialIndex = ({
  where,
  type,
  spatial,
  fulltext,
  parser,
}: {
  readonly where?: string
  readonly type?: string
  readonly spatial?: boolean
  readonly fulltext?: boolean
  readonly parser?: string
}): SpecialIndex => {
  const method = spatial === true ? 'spatial' : fulltext === true ? 'fulltext' : type
  return {
    ...(where !== undefined && { where }),
    ...(method !== undefined && method !== BTREE && { method }),
    ...(fulltext === true && parser !== undefined && { parser }),
  }
}

/** Returns true if the index is not a plain B-tree of all rows. */
export const isSpecial = (index: SpecialIndex): boolean => Object.keys(index).length > 0
