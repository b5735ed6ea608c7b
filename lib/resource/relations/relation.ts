import type { Field } from '../fields/field.js'

/** A class whose instances are entities, as a relation names it. */
export type RelatedClass = new () => object

/** The effect on a resource when its target is deleted. */
export type OnDelete = 'restrict' | 'cascade' | 'set null'

interface AnyRelation {
  /** In the entity, such as `project`. */
  readonly property: string
  /** Its name in filters: the field of the message that shows it, or the property in snake_case. */
  readonly proto: string
  /**
   * The other class. Classes that refer to one another are loaded one after another, so call it once all are
   * loaded.
   * @throws DeclarationError if the target does not exist even then.
   */
  readonly target: () => RelatedClass
}

/** The side whose row holds the key of the other one. */
export interface OwningRelation extends AnyRelation {
  readonly kind: 'many-to-one' | 'one-to-one'
  /** The field with the target's key: a property of the entity, or a hidden field that the relation adds. */
  readonly reference: Field
  /** True if the entity declares no property for the reference. */
  readonly isHidden: boolean
  /** The property of the target that holds the other side, where it has one. */
  readonly inverse: string | undefined
  readonly onDelete: OnDelete
  /** True if the entity declares `createForeignKeyConstraints: false`. */
  readonly isUnconstrained?: true
  /** The value of `@JoinColumn({ referencedColumnName })`. */
  readonly referenced: string | undefined
}

/** The side that the other one refers to. */
export interface InverseRelation extends AnyRelation {
  readonly kind: 'one-to-many' | 'one-to-one-inverse'
  /** The property of the target that refers to this resource. */
  readonly inverse: string
}

/** A relation of TypeORM between two resources. */
export type Relation = OwningRelation | InverseRelation

export const isOwning = (relation: Relation): relation is OwningRelation =>
  relation.kind === 'many-to-one' || relation.kind === 'one-to-one'

/** True if it refers to the tenant itself. Its foreign key alone holds it. */
export const isOfTenant = ({ reference }: Pick<OwningRelation, 'reference'>): boolean =>
  reference.role === 'tenant'

/** True if a write of the reference makes sure of the target, and of what its caller may refer to. */
export const isChecked = (relation: Relation): relation is OwningRelation =>
  isOwning(relation) && !isOfTenant(relation)
