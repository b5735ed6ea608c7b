import type { Problem } from '../../../errors.js'
import { reservedColumn } from '../../../resource/fields/column-names.js'
import { relationGraph } from '../../../resource/relations/graph.js'
import type { OwningRelation } from '../../../resource/relations/relation.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/** The column that has the same value in all rows that were deleted together. */
export const DELETE_ID = 'delete_id'

/** A resource that is part of a relation. */
export interface Member {
  readonly model: ResourceModel
  /** The references to this resource. */
  readonly children: readonly Edge[]
  /** The references from this resource. */
  readonly parents: readonly Edge[]
  /**
   * The key by which an undelete finds the rows of one deletion: the column `delete_id`, or the delete time
   * if a table of another application takes part. Undefined if the resource is not deleted together with
   * others.
   */
  readonly undeletedBy: 'id' | 'time' | undefined
}

/** A reference from one resource to another. */
export interface Edge {
  readonly child: Member
  readonly parent: Member
  readonly relation: OwningRelation
}

/**
 * Returns the resources that are part of a relation.
 *
 * @param models - all resources of one database.
 */
export function familyOf(models: readonly ResourceModel[]): ReadonlyMap<ResourceModel, Member> {
  const graph = relationGraph(models)
  const members = new Map<
    ResourceModel,
    Member & { children: Edge[]; parents: Edge[]; undeletedBy: Member['undeletedBy'] }
  >()
  const memberOf = (model: ResourceModel) => {
    const known = members.get(model)
    if (known !== undefined) return known
    const member = { model, children: [], parents: [], undeletedBy: undefined }
    members.set(model, member)
    return member
  }
  for (const { child, parent, relation } of models.flatMap((model) => graph.children(model))) {
    const edge = { child: memberOf(child), parent: memberOf(parent), relation }
    edge.parent.children.push(edge)
    edge.child.parents.push(edge)
  }
  for (const member of members.values()) {
    if (member.undeletedBy !== undefined || togetherWith(member).length === 0) continue
    const all = new Set([member])
    for (const one of all) for (const other of togetherWith(one)) all.add(other as typeof member)
    const undeletedBy = [...all].some(({ model }) => model.existing) ? 'time' : 'id'
    for (const one of all) one.undeletedBy = undeletedBy
  }
  return members
}

/** Returns the resources that are deleted and undeleted together with a resource, as its child or parent. */
const togetherWith = ({ children, parents }: Member): readonly Member[] => [
  ...children.filter(isUndeletedTogether).map(({ child }) => child),
  ...parents.filter(isUndeletedTogether).map(({ parent }) => parent),
]

/**
 * Returns true if a child can be deleted and undeleted together with its parent. If the relation restricts,
 * this requires `force`.
 */
const isUndeletedTogether = ({ child, parent, relation }: Edge): boolean =>
  relation.onDelete !== 'set null' && isSoft(child) && isSoft(parent)

/**
 * Returns true if a child is deleted with its parent. A child that cannot be undeleted is not deleted with a
 * parent that can.
 */
export const goesAlong = (
  { child, relation }: Edge,
  { force, isSoftDelete }: { readonly force: boolean; readonly isSoftDelete: boolean },
): boolean =>
  (relation.onDelete === 'cascade' || (relation.onDelete !== 'set null' && force)) &&
  (!isSoftDelete || isSoft(child))

/**
 * Returns true if a soft delete of the parent leaves the child unchanged, as in TypeORM, because the child
 * could not be restored. The child is deleted when the parent is permanently removed.
 */
export const isLeftBySoftDelete = ({ child, parent, relation }: Edge): boolean =>
  relation.onDelete === 'cascade' && isSoft(parent) && !isSoft(child)

/** Returns true if a child that was deleted with its parent is restored with it. */
export const comesBack = ({ child }: Edge): boolean => child.undeletedBy !== undefined

/** Returns true if deleted rows are retained and can be undeleted. */
export const isSoft = (of: Member | ResourceModel): boolean =>
  ('model' in of ? of.model : of).deleteTime !== undefined

/** Returns true if deleting the resource emits its own events or events of its children. */
export const emitsOf = ({ model, children }: Member, seen: readonly Member[] = []): boolean =>
  model.events !== undefined ||
  children.some(({ child }) => !seen.includes(child) && emitsOf(child, [...seen, child]))

/** Returns the reasons why a resource cannot be deleted as declared. */
export const deletionProblems = ({ model, undeletedBy }: Member): readonly Problem[] =>
  undeletedBy === 'id' ? reservedColumn(model.fields, DELETE_ID, 'what was deleted together') : []
