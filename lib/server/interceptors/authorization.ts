import type { Message } from '@bufbuild/protobuf'
import type { ContextReports } from '../observability/context-reports.js'
import { frozenPrincipal, type Principal, RequestContext } from '../../context.js'
import { PermissionDenied } from '../../errors.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import { checkedFromFirst } from '../authz/checked-stream.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import { type Decision, decisionOf } from '../authz/decision.js'
import type { RelatedLists } from '../expansion/related-lists.js'
import { ofCall } from '../observability/mask-of-code.js'
import { type Question, questionOf, templateOf } from '../authz/question.js'
import type { OtherReads } from '../row-access/other-reads.js'
import type { ReferenceDecisions } from '../row-access/reference-decisions.js'
import { AuthorizedRelated } from '../row-access/related-access.js'
import { unasked } from '../row-access/no-row-access.js'
import { restrictionsOf } from '../row-access/restrictions-of.js'
import type { RowAccessUse } from '../chain/row-access.js'
import type { CallOperations, Metadata, WholeRequest } from '../../call.js'
import type { Call, Restrictions } from '../chain/call.js'
import type { Interceptor, Next, Passed, ReplyOrPromise } from '../chain/interceptor.js'
import type { Registered } from '../chain/registered.js'
import type { Rule, RuleSet } from '../authz/rules.js'
import type { RequestId } from './request-id.js'

/** The values from which a principal is derived. */
export interface PrincipalSource {
  readonly metadata: Metadata
  readonly peer: string
  /** The principal of the verified bearer token. */
  readonly verified?: Principal | undefined
  readonly signal: AbortSignal
}

/** Derives the principal from a request. */
export type PrincipalFunc = (source: PrincipalSource) => Principal | Promise<Principal>

/** The principal of a call, set whether or not the call is allowed. */
export interface Derived {
  readonly principal: Principal
}

/** The result of authorization for a call whose request was read completely. */
export interface Authorized extends Derived, Restrictions {
  readonly context: RequestContext
  /** Starts operations on behalf of the call. */
  readonly operations: CallOperations
}

/** The response header and metadata key that states why a call was denied, in development. */
export const DENIAL_HEADER = 'x-denied-because'

type Needs = RequestId & Passed<'authentication'>

/** The objects that authorization decides with. */
export interface Deciding {
  readonly authorizer: Authorizer
  /** True in development only, because an explanation reveals the policy. */
  readonly explainsDenials: boolean
  /** Decides about the resources that a filter or sort order accesses through relations. */
  readonly relatedLists: RelatedLists
  /** Decides about the resources to which a write refers. */
  readonly references: ReferenceDecisions
  /** Decides about resources that a custom function accesses and its rule does not name. */
  readonly otherReads: OtherReads
  /** The methods that write rows of all tenants. */
  readonly sharedWrites: ReadonlySet<string>
}

/**
 * Continues with a call only if its rule is public or the authorizer allows it. It fails closed: without a
 * rule, an identity or a decision, the call is denied.
 */
export const authorization =
  (
    rules: RuleSet,
    principalFunc: PrincipalFunc,
    { authorizer, explainsDenials, relatedLists, references, otherReads, sharedWrites }: Deciding,
    reports: ContextReports,
  ): Interceptor<Authorized, Needs> =>
  <C extends Call & Needs>(next: Next<C & Authorized>, { handler, method }: Registered): Next<C> => {
    const asking: Asking = {
      authorizer,
      otherReads,
      writesShared: sharedWrites.has(method.path),
      rowAccess: handler.rowAccess,
      // Writes are restricted even if the decision is plain `true`: a write must not reveal a row that the
      // caller may not get.
      restrictsAllowed: authorizer.decidesByRow === true && handler.rowAccess !== 'reads',
      explain: explainsDenials ? explained : () => {},
    }
    const { changesRelated, asksLists, refers } = handler

    /** Continues with an allowed call: reads the whole request and runs the rest of the chain. */
    const enter = (call: C, rule: Rule, principal: Principal): ReplyOrPromise => {
      const { requestId, time, rest, incoming } = call
      const { held } = incoming
      // A step that settles after the end of the call does not continue.
      if (time.ended !== undefined) throw time.ended
      // A public method does not authenticate its caller, so the request counts against the limit until the
      // call ends.
      if (rule.public === true) held?.unauthenticated.decided(held)
      else held?.unauthenticated.authenticated(held, principal.tenant)
      const read = rest?.read()
      if (read instanceof Promise) return taken(call, read).then(() => enter(call, rule, principal))
      if (read !== undefined) take(call, read)
      call.verb = rule.verb
      call.context = new RequestContext({
        requestId,
        trace: call.trace,
        principal,
        signal: time,
        deadline: time.at,
        ...reports,
      })
      call.operations = {
        start: ({ metadata }, work) =>
          call.runner.start(call.method, call.context as RequestContext, metadata, ofCall(call, work)),
      }
      const message = () => call.request as Message
      if (changesRelated !== undefined)
        call.related = new AuthorizedRelated(authorizer, changesRelated, {
          principal,
          method: call.path,
          signal: time.signal,
          message,
        })
      if (asksLists === true) call.filterAccess = relatedLists.of({ principal, time })
      if (refers === true)
        call.references = references.of({
          path: call.path,
          principal,
          time,
          message,
          explain: (why) => asking.explain(call, why()),
        })
      return next(call as C & Authorized)
    }
    const decide = (call: C, rule: Rule, principal: Principal): ReplyOrPromise => {
      if (rule.public !== true && isAnonymous(principal))
        throw denied(call, asking, () => 'the call has no identity: no subject, no tenant, no groups')
      const allowed = allow(call, rule, principal, asking)
      return allowed === undefined
        ? enter(call, rule, principal)
        : allowed.then(() => enter(call, rule, principal))
    }
    const identified = (call: C, rule: Rule, derived: unknown): ReplyOrPromise => {
      const principal = frozenPrincipal(derived)
      call.principal = principal
      const charged = call.charge?.(principal)
      return charged === undefined
        ? decide(call, rule, principal)
        : charged.then(() => decide(call, rule, principal))
    }
    return (call) => {
      if (call.unreadable !== undefined) throw call.unreadable
      const rule = rules.declared(call.path)
      if (rule === undefined) throw denied(call, asking, () => 'the method has no rule')
      const derived: unknown = principalFunc(call)
      return derived instanceof Promise
        ? call.time.step(derived).then((derived) => identified(call, rule, derived))
        : identified(call, rule, derived)
    }
  }

/** The inputs of the authorization decisions for one method. */
interface Asking {
  readonly authorizer: Authorizer
  readonly otherReads: OtherReads
  readonly writesShared: boolean
  readonly rowAccess: RowAccessUse
  /** True if even a call that is allowed for all rows is restricted to the rows that the caller may get. */
  readonly restrictsAllowed: boolean
  readonly explain: (call: Call, why: string) => void
}

const explained = (call: Call, why: string): void => {
  call.denial = why
  call.headers.set(DENIAL_HEADER, why.slice(0, 512).replaceAll(/[^\x20-\x7e]/g, '?'))
}

const denied = (call: Call, { explain }: Asking, why: () => string): PermissionDenied => {
  if (explain === explained) explain(call, why())
  return new PermissionDenied()
}

const take = (call: Call, { request, ignoredMask }: WholeRequest): void => {
  call.rest = undefined
  call.request = request
  call.ignoredMask = ignoredMask
}

/** Waits for the rest of the request. */
const taken = async (call: Call, read: Promise<WholeRequest>): Promise<void> => {
  call.rest = undefined
  take(call, await call.time.step(read))
}

/**
 * Decides about a call. Returns undefined if it is allowed without waiting. A rule that reads nothing of the
 * request is decided before the request is decompressed and decoded, and before the body of a denied call is
 * sent.
 * @param streamed - one message of a client's stream.
 */
const allow = (
  call: Call,
  rule: Rule,
  principal: Principal,
  asking: Asking,
  streamed?: Message,
): Promise<void> | undefined => {
  if (rule.public === true) {
    if (asking.rowAccess === 'none' && asking.restrictsAllowed) call.ownAccess = unasked(call.method.desc)
    return undefined
  }
  const { authorizer, writesShared } = asking
  const { rest, requests, time, method } = call
  const { held } = call.incoming
  const template = templateOf(method, rule)
  const { fields } = template
  if (rest !== undefined && fields.some((field) => !rest.knows(field))) {
    held?.unauthenticated.decided(held)
    const read = rest.read()
    if (read instanceof Promise)
      return taken(call, read).then(() => {
        held?.unauthenticated.deciding(held)
        return allow(call, rule, principal, asking)
      })
    take(call, read)
    held?.unauthenticated.deciding(held)
  }
  const message = streamed ?? call.request
  // Each message of a client's stream may name another resource, so each is checked before the handler
  // receives it.
  if (message === undefined && requests !== undefined && fields.length > 0) {
    held?.unauthenticated.decided(held)
    return time
      .step(checkedFromFirst(requests, (each) => allow(call, rule, principal, asking, each)))
      .then((checked) => void (call.requests = checked))
  }
  const question = questionOf(call, rule, template, principal, message, writesShared)
  const decision = authorizer.authorize(question)
  if (decision instanceof Promise)
    return time.step(decision).then((decided) => accept(decided, question, call, asking))
  if (decision !== true || asking.restrictsAllowed) accept(decision, question, call, asking)
  return undefined
}

/**
 * Checks a decision and applies it to the call.
 * @throws PermissionDenied unless the call is allowed, TypeError if the handler cannot apply the decision.
 */
const accept = (returned: Decision, question: Question, call: Call, asking: Asking): void => {
  const { authorizer, otherReads, rowAccess: use, restrictsAllowed } = asking
  const decision = decisionOf(returned, authorizer)
  if (decision === true && !restrictsAllowed) return
  if (decision === false)
    throw denied(call, asking, () => authorizer.explain?.(question) ?? refusalOf(question))
  const { method, time } = call
  const explain = (why: string) => asking.explain(call, why)
  const message = () => call.request as Message
  const carrying = { method, time, authorizer, otherReads, use, message, explain }
  Object.assign(call, restrictionsOf(decision, question, carrying))
}

const refusalOf = ({
  verb,
  resource,
  principal: { subject, tenant, groups },
}: AuthorizationRequest): string =>
  `the authorizer does not allow ${verb} on ${resource} to subject "${subject}" of tenant "${tenant}" in groups [${groups.join(', ')}]`
