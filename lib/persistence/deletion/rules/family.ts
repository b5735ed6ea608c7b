import type { Problem } from '../../../errors.js'
import { reservedColumn } from '../../../resource/fields/column-names.js'
import { relationGraph } from '../../../resource/relations/graph.js'
import type { OwningRelation } from '../../../resource/relations/relation.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/** Of the rows that were deleted together: the same text in each of them. */
export const DELETE_ID = 'delete_id'

/** A resource that others refer to, or that refers to others. */
export interface Member {
  readonly model: ResourceModel
  /** The references to it. */
  readonly children: readonly Edge[]
  /** The references that it holds. */
  readonly parents: readonly Edge[]
  /**
   * By what the rows of one deletion are known, if they can be deleted and undeleted together with others: by
   * the column `delete_id`, or by the time of the deletion where a table of another application takes part.
   */
  readonly undeletedBy: 'id' | 'time' | undefined
}

/** A reference of one resource to another. */
export interface Edge {
  readonly child: Member
  readonly parent: Member
  readonly relation: OwningRelation
}

/**
 * The resources that refer to others, or that others refer to. A resource without relations is not among
 * them.
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

/** The resources that are deleted and undeleted together with a resource, in either direction. */
const togetherWith = ({ children, parents }: Member): readonly Member[] => [
  ...children.filter(isUndeletedTogether).map(({ child }) => child),
  ...parents.filter(isUndeletedTogether).map(({ parent }) => parent),
]

/**
 * True if a child goes with its parent and comes back with it: where the relation restricts, `force` makes it
 * so.
 */
const isUndeletedTogether = ({ child, parent, relation }: Edge): boolean =>
  relation.onDelete !== 'set null' && isSoft(child) && isSoft(parent)

/**
 * True if a child is deleted with its parent. One that cannot be undeleted never goes with a parent that can.
 */
export const goesAlong = (
  { child, relation }: Edge,
  { force, isSoftDelete }: { readonly force: boolean; readonly isSoftDelete: boolean },
): boolean =>
  (relation.onDelete === 'cascade' || (relation.onDelete !== 'set null' && force)) &&
  (!isSoftDelete || isSoft(child))

/**
 * True if a soft deletion of the parent leaves the child as it is, as TypeORM's does: it could not come back.
 * It is deleted once the parent is removed for good.
 */
export const isLeftBySoftDelete = ({ child, parent, relation }: Edge): boolean =>
  relation.onDelete === 'cascade' && isSoft(parent) && !isSoft(child)

/** True if a child that was deleted with its parent comes back with it. */
export const comesBack = ({ child }: Edge): boolean => child.undeletedBy !== undefined

/** True if a deleted row stays, and can be undeleted. */
export const isSoft = (of: Member | ResourceModel): boolean =>
  ('model' in of ? of.model : of).deleteTime !== undefined

/** True if there are events of it, or of what goes with it. */
export const emitsOf = ({ model, children }: Member, seen: readonly Member[] = []): boolean =>
  model.events !== undefined ||
  children.some(({ child }) => !seen.includes(child) && emitsOf(child, [...seen, child]))

/** Why a resource cannot be deleted as it is declared, one sentence each. */
export const deletionProblems = ({ model, undeletedBy }: Member): readonly Problem[] =>
  undeletedBy === 'id' ? reservedColumn(model.fields, DELETE_ID, 'what was deleted together') : []
