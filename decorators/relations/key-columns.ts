/** The property and the column of an entity's tenant. */
export interface TenantColumns {
  readonly property: string
  readonly column: string
}

/** A column of a reference, as declared by `@JoinColumn()`. */
interface JoinColumn {
  readonly name?: string
  readonly referencedColumnName?: string
}

/**
 * Returns the columns of a reference that contain the other resource's key. A reference can also include the
 * tenant.
 */
export const keyColumns = <J extends JoinColumn>(
  { property, column }: TenantColumns,
  joins: readonly J[],
): readonly J[] => joins.filter((join) => !holdsTenant({ property, column }, join, joins))

const holdsTenant = (
  { property, column }: TenantColumns,
  { name, referencedColumnName }: JoinColumn,
  joins: readonly JoinColumn[],
): boolean => referencedColumnName === property || (joins.length > 1 && name === column)
