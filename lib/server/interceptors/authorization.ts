import type { Message } from '@bufbuild/protobuf'
import { ANONYMOUS, type Principal, RequestContext } from '../../context.js'
import { PermissionDenied } from '../../errors.js'
import type { AuthorizationRequest, Authorizer } from '../authorizer.js'
import type { Metadata } from '../call.js'
import type { Deadline } from '../deadline.js'
import type { Answer, Call, Interceptor } from '../interceptor.js'
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
  (call, next) => {
    const rule = rules.of(call.path)
    if (rule === undefined || !isDeclared(rule)) throw new PermissionDenied()
    const goOn = (principal: Principal): Answer => {
      const { requestId, time } = call
      const signal = () => time.signal
      const context = new RequestContext({ requestId, principal, signal, deadline: time.at })
      return next(call.with({ principal, rule, context }))
    }
    const decide = (principal: Principal): Answer => {
      const checked = rule.public === true ? undefined : allow(call, rule, principal, authorizer)
      return checked === undefined ? goOn(principal) : checked.then(() => goOn(principal))
    }
    const derived = principalFunc(new Source(call))
    return derived instanceof Promise ? derived.then(decide) : decide(derived)
  }

/** A class, because an object literal with a getter has a hidden class of its own each time, which is garbage of the slow kind. */
class Source implements PrincipalSource {
  readonly metadata: Metadata
  readonly peer: string
  readonly verified: Principal | undefined
  readonly #time: Deadline

  constructor({ metadata, peer, verified, time }: Call & Needs) {
    this.metadata = metadata
    this.peer = peer
    this.verified = verified
    this.#time = time
  }

  get signal(): AbortSignal {
    return this.#time.signal
  }
}

class Asked implements AuthorizationRequest {
  readonly #time: Deadline

  constructor(
    readonly principal: Principal,
    readonly method: string,
    readonly verb: string,
    readonly resource: string,
    readonly type: string,
    time: Deadline,
  ) {
    this.#time = time
  }

  get signal(): AbortSignal {
    return this.#time.signal
  }
}

/** Undefined when it is allowed and nobody had to wait. */
const allow = (
  call: Call & Needs,
  rule: Rule,
  principal: Principal,
  authorizer: Authorizer,
): Promise<void> | undefined => {
  if (isNobody(principal)) throw new PermissionDenied()
  const template = templateOf(call.method, rule)
  const check = (message: Message | undefined): Promise<void> | undefined => {
    const resource = template.fill(message)
    const decision = authorizer.authorize(
      new Asked(principal, call.path, rule.verb ?? '', resource, template.type, call.time),
    )
    if (decision instanceof Promise) return decision.then(mustBeTrue)
    mustBeTrue(decision)
    return undefined
  }
  const { requests } = call
  if (requests === undefined || !template.needsRequest) return check(call.request)
  // Each message of a client's stream may name another resource, so each is asked about before the handler sees it.
  return checkedFromFirst(requests, check).then((checked) => void (call.requests = checked))
}

const mustBeTrue = (allowed: boolean): void => {
  if (allowed !== true) throw new PermissionDenied()
}

/** The stream, its first message already drawn and checked, each further one checked as it is drawn. */
const checkedFromFirst = async (
  requests: AsyncIterable<Message>,
  check: (message: Message) => Promise<void> | undefined,
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
