import type { Field } from '../fields/field.js'

/** An entity class as a relation names it. */
export type RelatedClass = new () => object

/** The effect on a resource when its target is deleted. */
export type OnDelete = 'restrict' | 'cascade' | 'set null'

interface AnyRelation {
  /** The property in the entity, such as `project`. */
  readonly property: string
  /** The name in filters: the message field that shows the target, or the property in snake_case. */
  readonly proto: string
  /**
   * Returns the target class. Classes that refer to each other are loaded one after the other, so call it
   * once all are loaded.
   * @throws DeclarationError if the target does not exist even then.
   */
  readonly target: () => RelatedClass
}

/** The side of a relation whose row contains the other side's key. */
export interface OwningRelation extends AnyRelation {
  readonly kind: 'many-to-one' | 'one-to-one'
  /** The field with the target's key: a property of the entity, or a hidden field that the relation adds. */
  readonly reference: Field
  /** True if the entity declares no property for the reference. */
  readonly isHidden: boolean
  /** The target's property for the inverse side, if it has one. */
  readonly inverse: string | undefined
  readonly onDelete: OnDelete
  /** True if the entity declares `createForeignKeyConstraints: false`. */
  readonly isUnconstrained?: true
  /** The value of `@JoinColumn({ referencedColumnName })`. */
  readonly referenced: string | undefined
}

/** The side of a relation to which the other side refers. */
export interface InverseRelation extends AnyRelation {
  readonly kind: 'one-to-many' | 'one-to-one-inverse'
  /** The target's property that refers to this resource. */
  readonly inverse: string
}

/** A TypeORM relation between two resources. */
export type Relation = OwningRelation | InverseRelation

export const isOwning = (relation: Relation): relation is OwningRelation =>
  relation.kind === 'many-to-one' || relation.kind === 'one-to-one'

/** Returns true if the relation refers to the tenant itself, which only its foreign key checks. */
export const isOfTenant = ({ reference }: Pick<OwningRelation, 'reference'>): boolean =>
  reference.role === 'tenant'

/**
 * Returns true if a write of the reference checks that the target exists and that the caller may refer to it.
 */
export const isChecked = (relation: Relation): relation is OwningRelation =>
  isOwning(relation) && !isOfTenant(relation)
