import { type Problem, propertyProblem } from '../../../errors.js'
import { reservedColumn } from '../../../resource/fields/column-names.js'
import { type Edge as RelationEdge, relationGraph } from '../../../resource/relations/graph.js'
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
   * Whether its rows can be deleted together with others, and undeleted with them: it has a column for that.
   */
  readonly hasDeleteId: boolean
}

/** A reference of one resource to another. */
export interface Edge {
  readonly child: Member
  readonly parent: Member
  readonly relation: OwningRelation
}

type Reference = RelationEdge<ResourceModel>

/**
 * The resources that refer to others, or that others refer to. A resource without relations is not among
 * them.
 * @param models - all resources of one database.
 */
export function familyOf(models: readonly ResourceModel[]): ReadonlyMap<ResourceModel, Member> {
  const graph = relationGraph(models)
  const members = new Map<
    ResourceModel,
    Member & { children: Edge[]; parents: Edge[]; hasDeleteId: boolean }
  >()
  const memberOf = (model: ResourceModel) => {
    const known = members.get(model)
    if (known !== undefined) return known
    const member = { model, children: [], parents: [], hasDeleteId: false }
    members.set(model, member)
    return member
  }
  for (const { child, parent, relation } of models.flatMap((model) => graph.children(model))) {
    const edge = { child: memberOf(child), parent: memberOf(parent), relation }
    edge.parent.children.push(edge)
    edge.child.parents.push(edge)
    if (!isUndeletedTogether(edge)) continue
    edge.parent.hasDeleteId = true
    edge.child.hasDeleteId = true
  }
  return members
}

/**
 * Whether a child goes with its parent and comes back with it: where the relation restricts, `force` makes it
 * so.
 */
const isUndeletedTogether = ({ child, parent, relation }: Reference | Edge): boolean =>
  relation.onDelete !== 'set null' && isSoft(child) && isSoft(parent)

/**
 * Whether a child is deleted with its parent. One that cannot be undeleted never goes with a parent that can.
 */
export const goesAlong = (
  { child, relation }: Edge,
  { force, isSoftDelete }: { readonly force: boolean; readonly isSoftDelete: boolean },
): boolean =>
  (relation.onDelete === 'cascade' || (relation.onDelete !== 'set null' && force)) &&
  (!isSoftDelete || isSoft(child))

/** Whether a child that was deleted with its parent comes back with it. */
export const comesBack = ({ child }: Edge): boolean => child.hasDeleteId

/** Whether a deleted row stays, and can be undeleted. */
export const isSoft = (of: Member | ResourceModel): boolean =>
  ('model' in of ? of.model : of).deleteTime !== undefined

/** Whether there are events of it, or of what goes with it. */
export const tellsOf = ({ model, children }: Member, seen: readonly Member[] = []): boolean =>
  model.events !== undefined ||
  children.some(({ child }) => !seen.includes(child) && tellsOf(child, [...seen, child]))

/** Why a resource cannot be deleted as it is declared, one sentence each. */
export function deletionProblems({ model, parents, hasDeleteId }: Member): Problem[] {
  const problems = parents
    .filter(({ parent, relation }) => relation.onDelete === 'cascade' && isSoft(parent) && !isSoft(model))
    .map(({ parent, relation }) =>
      propertyProblem(
        'deletion',
        relation.property,
        `${relation.property}: onDelete: 'CASCADE' deletes it with ${parent.model.entity.name}, which can be undeleted, and it cannot`,
        `write @SoftDeletable() above the class, or 'RESTRICT'`,
      ),
    )
  if (hasDeleteId) problems.push(...reservedColumn(model.fields, DELETE_ID, 'what was deleted together'))
  return problems
}
