import type { Repository } from '../../persistence/contract/repository.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import { type Decision, decisionOf } from '../authz/decision.js'
import { typeOf } from '../authz/resource-template.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import type { Deadline } from '../chain/deadline.js'
import { pathOf } from '../chain/method.js'
import type { Registry } from '../methods/registry.js'

/** The `get` of a resource that the rule of a call is not about. */
export interface OtherGet {
  readonly question: AuthorizationRequest
  readonly decide: () => Decision | Promise<Decision>
  /**
   * The rule is about another resource that is served, so that its decision says nothing about rows of this
   * one.
   */
  readonly isRuleOfAnother: boolean
}

/** What the authorizer is asked about a resource by its Get. */
interface Asked {
  readonly verb: string
  readonly resource: string
  readonly isPublic: boolean
  /** The types that rules use for the resource. */
  readonly types: ReadonlySet<string>
}

/**
 * What a function of the application may read where its rule names another resource than the repository that
 * it uses: what a Get would return to the caller.
 */
export class OtherGets {
  #asked: ReadonlyMap<string, Asked> | undefined

  constructor(
    private readonly registry: Registry,
    private readonly rules: RuleSet,
    private readonly authorizer: Authorizer,
  ) {}

  /** Undefined where the rule is about the resource, or where nobody gets that. */
  of(
    { model: { message } }: Repository<object>,
    { principal, method, type: ruled, signal }: AuthorizationRequest,
    time: Deadline,
  ): OtherGet | undefined {
    const all = (this.#asked ??= this.#gets())
    const own = all.get(message?.typeName ?? '')
    if (own === undefined || own.types.has(ruled)) return undefined
    const { verb, resource } = own
    const question = { principal, method, verb, resource, type: typeOf(resource), signal }
    const decide = (): Decision | Promise<Decision> => {
      if (own.isPublic) return true
      const said = this.authorizer.authorize(question)
      if (!(said instanceof Promise)) return decisionOf(said, this.authorizer)
      return time.step(said).then((later) => decisionOf(later, this.authorizer))
    }
    const isRuleOfAnother = [...all.values()].some(({ types }) => types.has(ruled))
    return { question, decide, isRuleOfAnother }
  }

  #gets(): ReadonlyMap<string, Asked> {
    const gets = new Map<string, Asked>()
    for (const { model } of this.registry.repositories()) {
      const served = [...this.registry.standardMethods(model, 'get')]
      const rules = served.flatMap(({ desc }) => this.rules.declared(pathOf(desc)) ?? [])
      const [first] = rules
      if (first === undefined || model.message === undefined) continue
      const types = new Set([model.type, ...rules.map(({ resource = '' }) => typeOf(resource))])
      const isOne = served.every(({ desc }) => {
        const [{ desc: one } = { desc }] = served
        return this.rules.agree(pathOf(desc), pathOf(one))
      })
      gets.set(model.message.typeName, { ...(isOne ? asRuled(first) : asType(model.type)), types })
    }
    return gets
  }
}

type Question = Pick<Asked, 'verb' | 'resource' | 'isPublic'>

/** No request fills a template here, so that it is asked about by its type. */
const asRuled = ({ verb = 'get', resource = '', public: isPublic = false }: Rule): Question => ({
  verb,
  resource: resource.includes('{') ? typeOf(resource) : resource,
  isPublic,
})

const asType = (type: string): Question => ({ verb: 'get', resource: type, isPublic: false })
