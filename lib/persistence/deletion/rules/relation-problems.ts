import { DeclarationError, type Problem } from '../../../errors.js'
import { relationGraph } from '../../../resource/relations/graph.js'
import type { Relation } from '../../../resource/relations/relation.js'
import { isResource, type ResourceModel, resourceModel } from '../../../resource/resource-model.js'
import { deletionProblems, familyOf } from './family.js'

/**
 * Returns the problems of each resource's relations. A relation is skipped if its target is not yet loaded or
 * is itself invalid.
 */
export function relationProblems(models: readonly ResourceModel[]): readonly (readonly Problem[])[] {
  const known = new Map<ResourceModel, ResourceModel>()
  for (const model of models) addClear(model, known)
  const all = [...known.values()]
  const [graph, family] = [relationGraph(all), familyOf(all)]
  return models.map((one) => {
    const model = known.get(one) as ResourceModel
    const member = family.get(model)
    return [...graph.problems(model), ...(member === undefined ? [] : deletionProblems(member))]
  })
}

/** Adds a resource and its related resources, each with the relations whose targets are known. */
function addClear(model: ResourceModel, known: Map<ResourceModel, ResourceModel>): void {
  if (known.has(model)) return
  const targets = model.relations.map((relation) => [relation, targetOf(relation)] as const)
  const relations = targets.flatMap(([relation, target]) => (target === undefined ? [] : [relation]))
  known.set(model, { ...model, relations })
  for (const [, target] of targets) if (typeof target === 'object') addClear(target, known)
}

/** Returns the target, `none` if it is not a resource, or undefined if this is not yet known. */
function targetOf(relation: Relation): ResourceModel | 'none' | undefined {
  try {
    const target = relation.target()
    return isResource(target) ? resourceModel<object>(target) : 'none'
  } catch (error) {
    // A class that is not yet loaded throws a ReferenceError.
    if (error instanceof DeclarationError || error instanceof ReferenceError) return undefined
    throw error
  }
}
