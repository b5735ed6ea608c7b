import { create, type DescField, type DescMethod, type Message } from '@bufbuild/protobuf'
import type { Principal } from '../../context.js'
import type { ReferenceAccess, ReferredRow, RowLimits } from '../../persistence/contract/related-options.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { isChecked } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import { wireKey } from '../methods/scope/wire-keys.js'
import { type Decision, decisionOf, type EntityRequest, restrictionOf } from '../authz/decision.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import { type ResourceTemplate, resourceTemplate, typeOf } from '../authz/resource-template.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import type { Deadline } from '../chain/deadline.js'
import { pathOf, valueOf } from '../chain/method.js'
import type { CallReferences, RowAccessKind } from '../chain/row-access.js'
import type { Registry } from '../methods/registry.js'
import { referenceVerbs } from './reference-verbs.js'
import { Referring } from './referring.js'
import { RestrictedRepository } from './restricted-repository.js'

/** A call that writes references. */
export interface ReferringCall {
  readonly path: string
  readonly principal: Principal
  readonly time: Deadline
  /** The call's request. */
  readonly message: () => Message
  /** Reports why a reference is denied, if callers may learn that. */
  readonly explain: (why: () => string) => void
}

/** The Get method whose rule decides who may refer to its resource. */
interface Get {
  readonly desc: DescMethod
  readonly key: DescField
}

/** A Get method and its rule. */
interface Ruled {
  readonly get: Get
  readonly rule: Rule
}

/** The permission that a reference requires, as far as it is known without the row. */
export interface NeededPermission {
  readonly verb: string
  /** The rule's resource, or the type. */
  readonly resource: string
}

/**
 * Decides which rows a caller may refer to: those that a Get of the other resource would return to it. If the
 * field names a verb, the caller needs that permission instead.
 */
export class ReferenceDecisions {
  readonly #gets = new Map<ResourceModel, readonly Get[]>()
  readonly #verbs = new WeakMap<ResourceModel, ReadonlyMap<string, string>>()

  constructor(
    private readonly registry: Registry,
    private readonly rules: RuleSet,
    private readonly authorizer: Authorizer,
  ) {}

  /** Returns the limits on the references of one call. */
  of(call: ReferringCall): CallReferences {
    const of = ({ model }: Repository<object>, kind: RowAccessKind): Referring | undefined =>
      model.relations.some(isChecked)
        ? new Referring(model, this.#accessOf(model, call), kind !== 'acts')
        : undefined
    return {
      of,
      restrict: (repository, kind) => {
        const own = of(repository, kind)
        return own === undefined ? repository : new RestrictedRepository(repository, undefined, kind, own)
      },
    }
  }

  /** Returns the permissions that references of served resources require. */
  permissions(): readonly NeededPermission[] {
    return this.registry.repositories().flatMap(({ model }) =>
      model.relations.filter(isChecked).flatMap(({ target, reference }): NeededPermission[] => {
        const other = resourceModel<object>(target())
        const rule = this.#getOf(other)?.rule
        const verb = this.#verbOf(model, reference.proto)
        if (verb === '' && rule?.public === true) return []
        return [{ verb: verb || (rule?.verb ?? GET), resource: rule?.resource ?? other.type }]
      }),
    )
  }

  #accessOf(model: ResourceModel, call: ReferringCall): ReferenceAccess {
    const { authorizer } = this
    const decisions = new Map<string, Decision | Promise<Decision>>()
    const ask = (question: AuthorizationRequest): Decision | Promise<Decision> => {
      if (isAnonymous(call.principal)) return false
      const decision = authorizer.authorize(question)
      return decision instanceof Promise ? call.time.step(decision) : decision
    }
    return {
      refer: async (row): Promise<RowLimits> => {
        const question = this.#question(row.by ?? model, row, call)
        if (question === undefined) return { isNone: false }
        const id = JSON.stringify([question.verb, question.resource])
        if (!decisions.has(id)) decisions.set(id, ask(question))
        const decision = decisionOf(await decisions.get(id), authorizer)
        if (decision === false) call.explain(() => `${row.field}: ${refusalOf(authorizer, question)}`)
        return restrictionOf(decision, () => question)
      },
    }
  }

  /** Returns the authorization request for a reference; undefined if every caller may refer to the row. */
  #question(
    model: ResourceModel,
    row: ReferredRow,
    { path, principal, time, message }: ReferringCall,
  ): EntityRequest | undefined {
    const { target } = row
    const own = this.#verbOf(model, row.field)
    const found = this.#getOf(target)
    if (own === '' && found?.rule.public === true) return undefined
    const request =
      found &&
      create(found.get.desc.input, { [found.get.key.localName]: wireKey(found.get.key, nameOf(row)) })
    const resource = (found && filled(found, request)) ?? target.type
    return {
      principal,
      method: own === '' && found !== undefined ? pathOf(found.get.desc) : path,
      verb: own || (found?.rule.verb ?? GET),
      resource,
      type: typeOf(resource),
      message: request ?? message(),
      get signal() {
        return time.signal
      },
    }
  }

  /** Returns the Get of a resource and its rule, if a single rule covers it. */
  #getOf(target: ResourceModel): Ruled | undefined {
    let gets = this.#gets.get(target)
    if (gets === undefined) {
      const served = this.registry.standardMethods(target, 'get')
      this.#gets.set(target, (gets = served.map(({ desc, method: { key } }) => ({ desc, key }))))
    }
    const [get, ...others] = gets
    const rule = get && this.rules.declared(pathOf(get.desc))
    const isOne = others.every(({ desc }) => get && this.rules.agree(pathOf(desc), pathOf(get.desc)))
    return get === undefined || rule === undefined || !isOne ? undefined : { get, rule }
  }

  #verbOf(model: ResourceModel, field: string): string {
    let verbs = this.#verbs.get(model)
    if (verbs === undefined) this.#verbs.set(model, (verbs = referenceVerbs(model)))
    return verbs.get(field) ?? ''
  }
}

const GET = 'get'

/**
 * Returns the name or key with which a Get would request the row; `''` if the write does not contain the
 * whole name.
 */
const nameOf = ({ target, values }: ReferredRow): string =>
  target.name === undefined ? (values[target.key.property] ?? '') : target.name.format(values)

const templates = new WeakMap<Rule, ResourceTemplate>()

/** Fills the rule's resource; undefined if the rule needs more fields of the request than the row's name. */
function filled({ get, rule }: Ruled, request: Message | undefined): string | undefined {
  let template = templates.get(rule)
  if (template === undefined)
    templates.set(rule, (template = resourceTemplate(rule.resource ?? '', get.desc.input)))
  const isNamed = request !== undefined && valueOf(request, get.key) !== ''
  if (!template.fields.every((path) => isNamed && path === get.key.name)) return undefined
  return template.fill(request)
}

const refusalOf = (authorizer: Authorizer, question: AuthorizationRequest): string =>
  authorizer.explain?.(question) ?? `the authorizer does not allow ${question.verb} on ${question.resource}`
