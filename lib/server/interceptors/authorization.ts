import type { Message } from '@bufbuild/protobuf'
import type { ContextReports } from '../observability/context-reports.js'
import { frozenPrincipal, type Principal, RequestContext } from '../../context.js'
import { PermissionDenied } from '../../errors.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import { type Decision, decisionOf } from '../authz/decision.js'
import type { RelatedLists } from '../expansion/related-lists.js'
import { ofCall } from '../observability/mask-of-code.js'
import type { OtherReads } from '../row-access/other-reads.js'
import type { ReferenceDecisions } from '../row-access/reference-decisions.js'
import { AuthorizedRelated } from '../row-access/related-access.js'
import { rowAccess } from '../row-access/decided-by-row.js'
import { noRowAccess, unasked } from '../row-access/no-row-access.js'
import type { RowAccessUse } from '../chain/row-access.js'
import type { CallOperations, Metadata, WholeRequest } from '../../call.js'
import type { Deadline } from '../chain/deadline.js'
import type { Call, Restrictions } from '../chain/call.js'
import type { Interceptor, Passed, ReplyOrPromise } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'
import { type ResourceTemplate, resourceTemplate } from '../authz/resource-template.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import type { Verified } from './authentication.js'
import type { Limited } from './rate-limit.js'
import type { RequestId } from './request-id.js'

/** The inputs from which a principal is derived. */
export interface PrincipalSource {
  readonly metadata: Metadata
  readonly peer: string
  /** The principal of the verified bearer token. */
  readonly verified?: Principal | undefined
  readonly signal: AbortSignal
}

/** Derives the principal from a request. */
export type PrincipalFunc = (source: PrincipalSource) => Principal | Promise<Principal>

/** The principal of the call, whether or not the call is allowed. */
export interface Derived {
  readonly principal: Principal
}

/** The reason why a call was denied, if callers may learn it. */
export interface Denied {
  readonly denial: string
}

/** The result of authorization for a call whose request was read completely. */
export interface Authorized extends Derived, Restrictions {
  readonly rule: Rule
  readonly context: RequestContext
  /** Starts operations on behalf of the call. */
  readonly operations: CallOperations
}

/** The response header and metadata that says why a call was denied, in development. */
export const DENIAL_HEADER = 'x-denied-because'

type Needs = RequestId &
  Partial<Pick<RequestContext, 'trace'>> &
  Limited &
  Verified &
  Passed<'authentication'>

/** The authorizer, and whether callers learn why they were denied. */
export interface Deciding {
  readonly authorizer: Authorizer
  /** Only in development: the explanation reveals the policy. */
  readonly explainsDenials: boolean
  /** Asked about the resources that a filter or an order reaches through relations. */
  readonly relatedLists: RelatedLists
  /** Asked about the resources that a write refers to. */
  readonly references: ReferenceDecisions
  /** Asked about the resources that a function reaches and its rule does not name. */
  readonly otherReads: OtherReads
  /** The methods that write what all tenants share. */
  readonly sharedWrites: ReadonlySet<string>
}

/**
 * Lets a call through only when its rule is public or the authorizer allows it. Fails closed: no rule, no
 * identity or no decision is a denial.
 */
export const authorization =
  (
    rules: RuleSet,
    principalFunc: PrincipalFunc,
    { authorizer, explainsDenials, relatedLists, references, otherReads, sharedWrites }: Deciding,
    reports: ContextReports,
  ): Interceptor<Authorized, Needs> =>
  (next, { handler, method }) => {
    const asking: Asking = {
      authorizer,
      otherReads,
      writesShared: sharedWrites.has(method.path),
      rowAccess: handler.rowAccess,
      restrictsAllowed: authorizer.decidesByRow === true && handler.rowAccess !== 'reads',
      explain: explainsDenials ? explained : () => {},
    }
    const { changesRelated, asksLists, refers } = handler
    return (call) => {
      if (call.unreadable !== undefined) throw call.unreadable
      const rule = rules.declared(call.path)
      if (rule === undefined) throw denied(call, asking, () => 'the method has no rule')
      const enter = (principal: Principal): ReplyOrPromise => {
        const { requestId, time, rest } = call
        const { held } = call.incoming
        // A step that settles after the end of the call goes no further.
        if (time.ended !== undefined) throw time.ended
        // The caller of a public method is not authenticated: its request counts as long as its call.
        if (rule.public === true) held?.unauthenticated.decided(held)
        else held?.unauthenticated.authenticated(held, principal.tenant)
        const read = rest?.read()
        if (read instanceof Promise) return taken(call, read).then(() => enter(principal))
        if (read !== undefined) Object.assign(call, read, ALL)
        const context = new RequestContext({
          requestId,
          trace: call.trace,
          principal,
          signal: time,
          deadline: time.at,
          ...reports,
        })
        if (changesRelated !== undefined)
          Object.assign(call, {
            related: new AuthorizedRelated(authorizer, changesRelated, {
              principal,
              method: call.path,
              signal: time.signal,
              message: () => call.request as Message,
            }),
          })
        if (asksLists === true) Object.assign(call, { filterAccess: relatedLists.of({ principal, time }) })
        if (refers === true)
          Object.assign(call, {
            references: references.of({
              path: call.path,
              principal,
              time,
              message: () => call.request as Message,
              explain: (why) => asking.explain(call, why()),
            }),
          })
        const operations: CallOperations = {
          start: ({ metadata }, work) =>
            call.runner.start(call.method, authorized.context, metadata, ofCall(call, work)),
        }
        const authorized = Object.assign(call, { principal, rule, context, operations })
        return next(authorized)
      }
      const decide = (principal: Principal): ReplyOrPromise => {
        if (rule.public !== true && isAnonymous(principal))
          throw denied(call, asking, () => 'the call has no identity: no subject, no tenant, no groups')
        const allowed = allow(call, rule, principal, asking)
        return allowed === undefined ? enter(principal) : allowed.then(() => enter(principal))
      }
      const charge = (derived: unknown): ReplyOrPromise => {
        const principal = frozenPrincipal(derived)
        Object.assign(call, { principal })
        const charged = call.charge?.(principal)
        return charged === undefined ? decide(principal) : charged.then(() => decide(principal))
      }
      const derived: unknown = principalFunc(call)
      return derived instanceof Promise ? call.time.step(derived).then(charge) : charge(derived)
    }
  }

/** The parts of a decision about the calls of one method. */
interface Asking {
  readonly authorizer: Authorizer
  readonly otherReads: OtherReads
  readonly writesShared: boolean
  readonly rowAccess: RowAccessUse
  /** True if a call that is allowed as a whole is restricted all the same: by what the caller may get. */
  readonly restrictsAllowed: boolean
  readonly explain: (call: Call, why: string) => void
}

const explained = (call: Call, why: string): void => {
  Object.assign(call, { denial: why } satisfies Denied)
  call.headers.set(DENIAL_HEADER, why.slice(0, 512).replaceAll(/[^\x20-\x7e]/g, '?'))
}

const denied = (call: Call, { explain }: Asking, why: () => string): PermissionDenied => {
  if (explain === explained) explain(call, why())
  return new PermissionDenied()
}

/** Nothing of the request is left to read. */
const ALL = { rest: undefined } as const

/** Waits for what was left of the request. */
const taken = async (call: Call & Needs, read: Promise<WholeRequest>): Promise<void> => {
  Object.assign(call, ALL)
  Object.assign(call, await call.time.step(read))
}

class Question implements AuthorizationRequest {
  constructor(
    readonly principal: Principal,
    readonly method: string,
    readonly verb: string,
    readonly resource: string,
    readonly type: string,
    readonly writesShared: boolean,
    private readonly time: Deadline,
  ) {}

  get signal(): AbortSignal {
    return this.time.signal
  }

  about(verb: string): Question {
    return new Question(this.principal, this.method, verb, this.resource, this.type, false, this.time)
  }
}

/**
 * Undefined when it is allowed without waiting. A rule that needs nothing of the request is decided before
 * that is inflated and decoded, and before the body of a call that is refused is sent.
 * @param streamed - one of the messages of a client's stream.
 */
const allow = (
  call: Call & Needs,
  rule: Rule,
  principal: Principal,
  asking: Asking,
  streamed?: Message,
): Promise<void> | undefined => {
  if (rule.public === true) {
    if (asking.rowAccess === 'none' && asking.restrictsAllowed)
      Object.assign(call, { ownAccess: unasked(call.method.desc) })
    return undefined
  }
  const { authorizer, writesShared } = asking
  const template = templates.get(rule) ?? templateOf(call.method, rule)
  const { rest, requests, time } = call
  const { held } = call.incoming
  if (rest !== undefined && template.fields.some((field) => !rest.knows(field))) {
    held?.unauthenticated.decided(held)
    const read = rest.read()
    if (read instanceof Promise)
      return taken(call, read).then(() => {
        held?.unauthenticated.deciding(held)
        return allow(call, rule, principal, asking)
      })
    Object.assign(call, read, ALL)
    held?.unauthenticated.deciding(held)
  }
  const message = streamed ?? call.request
  // Each message of a client's stream may name another resource, so each is checked before the handler sees
  // it.
  if (message === undefined && requests !== undefined && template.fields.length > 0) {
    held?.unauthenticated.decided(held)
    return time
      .step(checkedFromFirst(requests, (each) => allow(call, rule, principal, asking, each)))
      .then((checked) => void Object.assign(call, { requests: checked }))
  }
  const resource = template.fill(message)
  const question = new Question(
    principal,
    call.path,
    rule.verb ?? '',
    resource,
    template.type,
    writesShared,
    time,
  )
  const decision = authorizer.authorize(question)
  if (decision instanceof Promise)
    return time.step(decision).then((decided) => accept(decided, question, call, asking))
  if (decision !== true || asking.restrictsAllowed) accept(decision, question, call, asking)
  return undefined
}

/**
 * @throws PermissionDenied unless the call is permitted. @throws TypeError for a decision that the handler
 * would not carry out.
 */
const accept = (returned: Decision, question: Question, call: Call & Needs, asking: Asking): void => {
  const { authorizer, otherReads, rowAccess: use, restrictsAllowed } = asking
  const decision = decisionOf(returned, authorizer)
  if (decision === true && !restrictsAllowed) return
  if (decision === false)
    throw denied(call, asking, () => authorizer.explain?.(question) ?? refusalOf(question))
  if (use === 'none' && decision !== true) throw new TypeError(noRowAccess(call.method.desc))
  const access = rowAccess({
    decision,
    request: question,
    message: () => call.request as Message,
    decideGet: () => decideGet(authorizer, question, call),
    otherRead: (repository) => otherReads.of(repository, question, call.time),
    explain: (why) => asking.explain(call, why),
  })
  // An allowed read needs no restriction itself; the function around it may read other resources.
  const isOwnOnly = decision === true && (use === 'wrapsRead' || use === 'none')
  Object.assign(call, (isOwnOnly ? { ownAccess: access } : { rowAccess: access }) satisfies Restrictions)
}

const decideGet = (authorizer: Authorizer, question: Question, call: Call & Needs) => {
  const decision = question.verb === 'get' ? undefined : authorizer.authorize(question.about('get'))
  if (decision instanceof Promise) return call.time.step(decision)
  return decision ?? authorizer.authorize(question)
}

const refusalOf = ({
  verb,
  resource,
  principal: { subject, tenant, groups },
}: AuthorizationRequest): string =>
  `the authorizer does not allow ${verb} on ${resource} to subject "${subject}" of tenant "${tenant}" in groups [${groups.join(', ')}]`

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

const templates = new WeakMap<Rule, ResourceTemplate>()

const templateOf = (method: Method, rule: Rule): ResourceTemplate => {
  const known = templates.get(rule)
  if (known !== undefined) return known
  const template = resourceTemplate(rule.resource ?? '', method.desc.input)
  templates.set(rule, template)
  return template
}
