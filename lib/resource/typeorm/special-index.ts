/** The parts of an index besides its columns, as TypeORM has them. */
export interface SpecialIndex {
  /** The SQL condition of the rows that are in it: no others are unique. */
  readonly where?: string
  /**
   * The index type: `spatial`, `fulltext`, or one of PostgreSQL such as `gin`. Default: a B-tree, which
   * TypeORM also makes on an engine without the type.
   */
  readonly method?: string
  /** MySQL's parser of a full-text index. */
  readonly parser?: string
}

/** The method of an index that states none. */
const BTREE = 'btree'

/** The options of `@Index()` that belong to it. TypeORM prefers `spatial` to `type`. */
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

/** True if it is more than a B-tree of all rows. */
export const isSpecial = (index: SpecialIndex): boolean => Object.keys(index).length > 0
