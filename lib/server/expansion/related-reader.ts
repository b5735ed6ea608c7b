import { create, type Message } from '@bufbuild/protobuf'
import type { Principal, RequestContext } from '../../context.js'
import { ErrNotFound, PermissionDenied } from '../../errors.js'
import { responseTooLarge } from '../../bounds/response-bytes.js'
import { sizeIn } from '../../persistence/bytes/counted-bytes.js'
import { TooManyBytes } from '../../persistence/bytes/too-many-bytes.js'
import { type Filter, hasValue } from '../../persistence/query/filter-template.js'
import { type AuthorizationRequest, type Authorizer } from '../authz/authorizer.js'
import { type Decision, decisionOf, type Restriction, restrictionOf } from '../authz/decision.js'
import { type ResourceTemplate, resourceTemplate } from '../authz/resource-template.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import type { Deadline } from '../chain/deadline.js'
import { pathOf } from '../chain/method.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import { repositoryKey, wireKey } from '../methods/scope/wire-keys.js'
import { RestrictedRepository } from '../row-access/restricted-repository.js'
import type { ReadableRelation } from './readable-relations.js'

export interface ReadingCall {
  readonly principal: Principal
  readonly context: RequestContext
  readonly time: Deadline
}

/**
 * The maximum number of keys in one statement. The lower one applies if keys may have separate conditions.
 */
const MAX_KEYS = 1000
const MAX_CONDITIONED_KEYS = 200

/** Reads related resources with the same rule and limits as their own Get, for the same caller. */
export class RelatedReader {
  readonly #templates = new WeakMap<Rule, ResourceTemplate>()
  /** Total bytes of the resources read for each call. */
  readonly #bytes = new WeakMap<ReadingCall, number>()

  constructor(
    private readonly rules: RuleSet,
    private readonly authorizer: Authorizer,
    private readonly maxResponseBytes: number,
  ) {}

  /**
   * Returns the messages that the caller may get, by key. Keys of denied, deleted or missing resources are
   * omitted.
   */
  async read(
    relation: ReadableRelation,
    keys: readonly string[],
    call: ReadingCall,
  ): Promise<ReadonlyMap<string, Message>> {
    const found = new Map<string, Message>()
    const decided = await this.#decide(relation, keys, call)
    const groups = new Map<Filter | undefined, string[]>()
    for (const [key, { where }] of decided) groups.set(where, [...(groups.get(where) ?? []), key])
    const size = groups.size > 1 ? MAX_CONDITIONED_KEYS : MAX_KEYS
    const allowed = [...decided.keys()]
    for (let from = 0; from < allowed.length; from += size) {
      const some = allowed.slice(from, from + size)
      for (const entity of await this.#rows(relation, some, whereOf(groups, some, relation), call)) {
        const { model } = relation.repository
        const key = model.keys.textOf(entity)
        const test = decided.get(key)?.test
        if (test === undefined || (await test(entity)) === true) found.set(key, model.toMessage(entity))
      }
    }
    return found
  }

  async #rows(
    { repository }: ReadableRelation,
    keys: readonly string[],
    where: Filter | undefined,
    call: ReadingCall,
  ): Promise<readonly object[]> {
    const before = this.#bytes.get(call) ?? 0
    try {
      const { context } = call
      const options = { context, allowMissing: true, maxBytes: this.maxResponseBytes - before }
      const { model } = repository
      const given = keys.map((key) => repositoryKey(model, key))
      const own: Restriction = { isNone: false, where, test: undefined, check: undefined }
      const decided = { own, readable: () => own, explain: () => {} }
      const within = where === undefined ? repository : new RestrictedRepository(repository, decided, 'reads')
      const rows = await within.batchGet(given, options)
      const after = before + rows.reduce<number>((sum, row) => sum + sizeIn(model, row), 0)
      // A single row is accepted whatever its size, but only as the first row of the call.
      if (before > 0 && after > this.maxResponseBytes) throw responseTooLarge(this.maxResponseBytes)
      this.#bytes.set(call, after)
      return rows
    } catch (error) {
      // A caller without a tenant may get none of the resources.
      if (error instanceof PermissionDenied) return []
      if (error instanceof TooManyBytes) throw responseTooLarge(this.maxResponseBytes)
      if (!(error instanceof ErrNotFound)) throw error
      throw new TypeError(
        `${repository.constructor.name}.batchGet dropped \`allowMissing\`: pass its options to super.batchGet`,
        { cause: error },
      )
    }
  }

  /** Returns the Get rule's decision for each key. */
  async #decide(
    { get }: ReadableRelation,
    keys: readonly string[],
    { principal, time }: ReadingCall,
  ): Promise<ReadonlyMap<string, Restriction>> {
    const { authorizer } = this
    const path = pathOf(get.desc)
    const rule = this.rules.declared(path)
    const decided = new Map<string, Restriction>()
    if (rule === undefined || (rule.public !== true && isAnonymous(principal))) return decided
    const template = this.#templateOf(rule, get)
    const decisions = new Map<string, Decision | Promise<Decision>>()
    for (const key of keys) {
      const message = create(get.desc.input, { [get.key.localName]: wireKey(get.key, key) })
      const resource = template.fill(message)
      const question: AuthorizationRequest = {
        principal,
        method: path,
        verb: rule.verb ?? '',
        resource,
        type: template.type,
        signal: time.signal,
      }
      if (!decisions.has(resource))
        decisions.set(resource, rule.public === true ? true : authorizer.authorize(question))
      const decision = decisionOf(await decisions.get(resource), authorizer)
      if (decision === false) continue
      decided.set(
        key,
        restrictionOf(decision, () => ({ ...question, message })),
      )
    }
    return decided
  }

  #templateOf(rule: Rule, { desc }: ReadableRelation['get']): ResourceTemplate {
    let template = this.#templates.get(rule)
    if (template === undefined)
      this.#templates.set(rule, (template = resourceTemplate(rule.resource ?? '', desc.input)))
    return template
  }
}

/** Returns one condition for all rows, or a condition for each group of keys if the decisions differ. */
const whereOf = (
  groups: ReadonlyMap<Filter | undefined, readonly string[]>,
  keys: readonly string[],
  { repository: { model } }: ReadableRelation,
): Filter | undefined => {
  const [only] = groups.keys()
  if (groups.size <= 1) return only
  const asked = new Set(keys)
  const conditions = [...groups].flatMap(([where, all]) => {
    const some = all
      .filter((key) => asked.has(key))
      .map((key) => hasValue(model.key.proto, repositoryKey(model, key)))
    if (some.length === 0) return []
    const among = `(${some.join(' OR ')})`
    return [where === undefined ? among : `(${among} AND (${where}))`]
  })
  return conditions.join(' OR ') as Filter
}
