import type { Message } from '@bufbuild/protobuf'
import { ANONYMOUS, type Principal, RequestContext } from '../../context.js'
import { PermissionDenied } from '../../errors.js'
import type { Authorizer } from '../authorizer.js'
import type { Metadata } from '../call.js'
import type { Call, Interceptor } from '../interceptor.js'
import type { Method } from '../method.js'
import { type ResourceTemplate, resourceTemplate } from '../resource-template.js'
import { isDeclared, type Rule, type RuleSet } from '../rules.js'
import type { Verified } from './authentication.js'
import type { RequestId } from './request-id.js'

/** What a principal may be derived from. */
export interface PrincipalSource {
  readonly metadata: Metadata
  readonly peer: string
  /** Who the authenticator verified the bearer to be. */
  readonly verified: Principal | undefined
  readonly signal: AbortSignal
}

/** Derives the principal from a request. */
export type PrincipalFunc = (source: PrincipalSource) => Principal | Promise<Principal>

export interface Authorized {
  readonly principal: Principal
  readonly rule: Rule
  readonly context: RequestContext
}

type Needs = RequestId & Verified

/** Lets a call through only when its rule is public or the authorizer allows it. Fails closed: no rule, no identity or no answer is a denial. */
export const authorization =
  (rules: RuleSet, principalFunc: PrincipalFunc, authorizer: Authorizer): Interceptor<Authorized, Needs> =>
  async (call, next) => {
    const rule = rules.of(call.path)
    if (rule === undefined || !isDeclared(rule)) throw new PermissionDenied()
    const derived = principalFunc(sourceOf(call))
    const principal = derived instanceof Promise ? await derived : derived
    if (rule.public !== true) await allow(call, rule, principal, authorizer)
    const { requestId, time } = call
    const context = new RequestContext({ requestId, principal, signal: time.signal, deadline: time.at })
    return next(call.with({ principal, rule, context }))
  }

const sourceOf = ({ metadata, peer, verified, time }: Call & Needs): PrincipalSource => ({
  metadata,
  peer,
  verified,
  get signal() {
    return time.signal
  },
})

const allow = async (
  call: Call & Needs,
  rule: Rule,
  principal: Principal,
  authorizer: Authorizer,
): Promise<void> => {
  if (isNobody(principal)) throw new PermissionDenied()
  const template = templateOf(call.method, rule)
  const check = async (message: Message | undefined): Promise<void> => {
    const { type } = template
    const resource = template.fill(message)
    const request = {
      principal,
      method: call.path,
      verb: rule.verb ?? '',
      resource,
      type,
      signal: call.time.signal,
    }
    const decision = authorizer.authorize(request)
    const allowed = decision instanceof Promise ? await decision : decision
    if (allowed !== true) throw new PermissionDenied()
  }
  if (call.requests === undefined || !template.needsRequest) return check(call.request)
  // Each message of a client's stream may name another resource, so each is asked about before the handler sees it.
  call.requests = await checkedFromFirst(call.requests, check)
}

/** The stream, its first message already drawn and checked, each further one checked as it is drawn. */
const checkedFromFirst = async (
  requests: AsyncIterable<Message>,
  check: (message: Message) => Promise<void>,
): Promise<AsyncIterable<Message>> => {
  const iterator = requests[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) throw new PermissionDenied()
  await check(first.value)
  return (async function* () {
    try {
      yield first.value
      for (;;) {
        const item = await iterator.next()
        if (item.done === true) return
        await check(item.value)
        yield item.value
      }
    } finally {
      await iterator.return?.()
    }
  })()
}

/** Whether there is no identity at all. */
export const isNobody = (principal: Principal): boolean =>
  principal === ANONYMOUS ||
  (principal.subject === '' && principal.tenant === '' && principal.groups.length === 0)

const templates = new WeakMap<Rule, ResourceTemplate>()

const templateOf = (method: Method, rule: Rule): ResourceTemplate => {
  const known = templates.get(rule)
  if (known !== undefined) return known
  const template = resourceTemplate(rule.resource ?? '', method.desc.input)
  templates.set(rule, template)
  return template
}
