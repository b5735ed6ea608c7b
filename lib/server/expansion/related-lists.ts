import { create, type DescMethod } from '@bufbuild/protobuf'
import type { Through } from '../../persistence/contract/repository.js'
import type { NamedRelation } from '../../persistence/relations/relations-named.js'
import { isOwning } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import { decisionOf, listable, type Restriction, restrictionOf } from '../authz/decision.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import { typeOf } from '../authz/resource-template.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import { pathOf } from '../chain/method.js'
import type { FilterAccess } from '../chain/row-access.js'
import { isOverridden } from '../../persistence/repository/repository-view.js'
import type { Registry } from '../methods/registry.js'
import type { ReadingCall } from './related-reader.js'

type FilteringCall = Pick<ReadingCall, 'principal' | 'time'>

/**
 * The rows that filters and sort orders can access through relations: the rows that each resource's List
 * would return to the same caller.
 */
export class RelatedLists {
  readonly #lists: ReadonlyMap<ResourceModel, DescMethod>

  constructor(
    registry: Registry,
    private readonly rules: RuleSet,
    private readonly authorizer: Authorizer,
  ) {
    this.#lists = listsIn(registry, rules)
  }

  of(call: FilteringCall): FilterAccess {
    return {
      through: (named) => this.#through(named, call),
      deleted: async (model) =>
        this.#lists.get(model)?.input.field['showDeleted'] === undefined
          ? undefined
          : this.#decide(model, call),
    }
  }

  /** Omits every relation that is denied or has no List, and all relations behind it. */
  async #through(named: readonly NamedRelation[], call: FilteringCall): Promise<readonly Through[]> {
    const decided = new Map<ResourceModel, Restriction | undefined>()
    const open = new Map<string, Through>()
    for (const { path, target } of named) {
      const before = path.lastIndexOf('.')
      if (before >= 0 && !open.has(path.slice(0, before))) continue
      if (!decided.has(target)) decided.set(target, await this.#decide(target, call))
      const restriction = decided.get(target)
      if (restriction !== undefined) open.set(path, { relation: path, where: restriction.where })
    }
    return [...open.values()]
  }

  /** Returns undefined if the caller may list none of the rows. */
  async #decide(target: ResourceModel, { principal, time }: FilteringCall): Promise<Restriction | undefined> {
    const { authorizer } = this
    const list = this.#lists.get(target)
    const rule = list && ruleOfAll(list, this.rules)
    if (!list || !rule || (rule.public !== true && isAnonymous(principal))) return undefined
    const message = create(list.input)
    const question: AuthorizationRequest = {
      principal,
      method: pathOf(list),
      verb: rule.verb ?? '',
      resource: rule.resource ?? '',
      type: typeOf(rule.resource ?? ''),
      signal: time.signal,
    }
    const returned = rule.public === true ? true : await authorizer.authorize(question)
    const decision = decisionOf(returned, authorizer)
    const restriction = restrictionOf(decision, () => ({ ...question, message }))
    return restriction.isNone ? undefined : listable(restriction, target.type)
  }
}

/** Returns the List method of each resource that only framework repositories list, with a single rule. */
const listsIn = (registry: Registry, rules: RuleSet): ReadonlyMap<ResourceModel, DescMethod> => {
  const lists = new Map<ResourceModel, DescMethod>()
  for (const { model } of registry.repositories()) {
    const all = registry.standardMethods(model, 'list')
    const first = all[0]?.desc
    if (first === undefined) continue
    const isPlain = all.every(
      ({ desc, isOwn, repository }) =>
        !isOwn && !isOverridden(repository, 'list') && rules.agree(pathOf(desc), pathOf(first)),
    )
    if (isPlain) lists.set(model, first)
  }
  return lists
}

/**
 * Returns the rule of a List if it covers all of the resources. A template cannot be filled without a
 * request.
 */
const ruleOfAll = (list: DescMethod, rules: RuleSet): Rule | undefined => {
  const rule = rules.declared(pathOf(list))
  return rule?.resource?.includes('{') === true ? undefined : rule
}

/** A relation that filters can name. */
export interface FilterRelation {
  readonly name: string
  readonly isMany: boolean
}

/**
 * Returns the relations of a resource that filters can name. The caller must be allowed to list the related
 * resources.
 */
export const filterRelations = (
  registry: Registry,
  rules: RuleSet,
): ((model: ResourceModel) => readonly FilterRelation[]) => {
  const lists = listsIn(registry, rules)
  return ({ relations }) =>
    relations.flatMap((relation) => {
      const list = lists.get(resourceModel<object>(relation.target()))
      if (list === undefined || ruleOfAll(list, rules) === undefined) return []
      return [{ name: relation.proto, isMany: !isOwning(relation) }]
    })
}
