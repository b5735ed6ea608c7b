import type { Repository } from '../../persistence/contract/repository.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import { type Decision, decisionOf } from '../authz/decision.js'
import { typeOf } from '../authz/resource-template.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import type { Deadline } from '../chain/deadline.js'
import { pathOf } from '../chain/method.js'
import type { Registry } from '../methods/registry.js'

/** The read permission of a resource, if the decision about the call does not cover it. */
export interface OtherRead {
  readonly question: AuthorizationRequest
  readonly decide: () => Decision | Promise<Decision>
  /**
   * True if the call's rule concerns another served resource, so that its decision says nothing about this
   * one.
   */
  readonly isRuleOfAnother: boolean
}

/** The authorization request about a resource, derived from the method that reads it. */
interface Asked {
  readonly verb: string
  readonly resource: string
  readonly isPublic: boolean
  /** The type names that rules use for the resource. */
  readonly types: ReadonlySet<string>
}

/** The methods that return rows unchanged. The first one that exists decides who may read a resource. */
const READING = ['get', 'batchGet', 'list'] as const

/**
 * The rows that a call may read through a repository: those that a Get would return to the caller, or a
 * BatchGet or List if there is no Get. If no method returns the rows, the authorizer decides about `get` on
 * the type.
 */
export class OtherReads {
  #served: ReadonlyMap<string, Asked> | undefined

  constructor(
    private readonly registry: Registry,
    private readonly rules: RuleSet,
    private readonly authorizer: Authorizer,
  ) {}

  /** Returns undefined if the decision about `get` on the rule's resource applies. */
  of(
    { model }: Repository<object>,
    { principal, method, type: ruled, signal }: AuthorizationRequest,
    time: Deadline,
  ): OtherRead | undefined {
    const all = (this.#served ??= this.#reads())
    const own = all.get(model.message?.typeName ?? '') ?? unserved(model)
    const isRuled = own.types.has(ruled)
    const { verb, resource } = own
    if (isRuled && verb === 'get' && !own.isPublic) return undefined
    const question = { principal, method, verb, resource, type: typeOf(resource), signal }
    const decide = (): Decision | Promise<Decision> => {
      if (own.isPublic) return true
      const said = this.authorizer.authorize(question)
      if (!(said instanceof Promise)) return decisionOf(said, this.authorizer)
      return time.step(said).then((later) => decisionOf(later, this.authorizer))
    }
    const isRuleOfAnother = !isRuled && [...all.values()].some(({ types }) => types.has(ruled))
    return { question, decide, isRuleOfAnother }
  }

  #reads(): ReadonlyMap<string, Asked> {
    const reads = new Map<string, Asked>()
    for (const { model } of this.registry.repositories())
      if (model.message !== undefined) reads.set(model.message.typeName, this.#readOf(model))
    return reads
  }

  #readOf(model: ResourceModel): Asked {
    for (const kind of READING) {
      const paths = this.registry.standardMethods(model, kind).map(({ desc }) => pathOf(desc))
      const rules = paths.flatMap((path) => this.rules.declared(path) ?? [])
      const [first] = rules
      const [one = ''] = paths
      if (first === undefined) continue
      const verb = kind === 'list' ? 'list' : 'get'
      const isOne = paths.every((path) => this.rules.agree(path, one))
      const question = isOne ? asRuled(first, verb) : asType(verb, model.type)
      const types = new Set([model.type, ...rules.map(({ resource = '' }) => typeOf(resource))])
      return { ...question, types }
    }
    return unserved(model)
  }
}

type Question = Pick<Asked, 'verb' | 'resource' | 'isPublic'>

/**
 * Returns the rule's verb and resource. Without a request, a template cannot be filled, so the authorizer
 * decides about the type.
 */
const asRuled = (
  { verb: ruled = '', resource = '', public: isPublic = false }: Rule,
  verb: string,
): Question => ({
  verb: ruled === '' ? verb : ruled,
  resource: resource.includes('{') ? typeOf(resource) : resource,
  isPublic,
})

const asType = (verb: string, resource: string): Question => ({ verb, resource, isPublic: false })

/** Returns the request for a resource that no method returns. */
const unserved = ({ type }: ResourceModel): Asked => ({
  ...asType('get', type),
  types: new Set([type]),
})
