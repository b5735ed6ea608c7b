import type { Message } from '@bufbuild/protobuf'
import type { Repository } from '../../persistence/contract/repository.js'
import type { AuthorizationRequest } from '../authz/authorizer.js'
import { type Decision, type EntityRequest, restrictionOf } from '../authz/decision.js'
import type { RowAccess } from '../chain/row-access.js'
import type { Decided } from './decided.js'
import type { OtherGet } from './other-gets.js'
import { RestrictedRepository } from './restricted-repository.js'

/** A decision by row, and who is asked when another is needed. */
export interface DecidedByRow {
  readonly decision: Decision
  readonly request: AuthorizationRequest
  readonly message: () => Message
  /** Decides about `get` of the resource of the rule. */
  readonly decideGet: () => Decision | Promise<Decision>
  /** The `get` of a resource that the rule is not about. */
  readonly otherGet: (repository: Repository<object>) => OtherGet | undefined
  readonly explain: (why: string) => void
}

/** Carries a decision by row out. `get` is asked about once per call and resource, when it matters. */
export const rowAccess = (decided: DecidedByRow): RowAccess => {
  const { decision, request, message, explain } = decided
  const entityRequest = (asked: AuthorizationRequest, verb: string) => (): EntityRequest => {
    const { principal, method, resource, type, signal } = asked
    return { principal, method, verb, resource, type, signal, message: message() }
  }
  const own = restrictionOf(decision, entityRequest(request, request.verb))
  let said: Decision | Promise<Decision> | undefined
  const readable = async () =>
    restrictionOf(await (said ??= decided.decideGet()), entityRequest(request, 'get'))
  const others = new Map<Repository<object>, Decided | undefined>()
  const aboutOther = (repository: Repository<object>): Decided | undefined => {
    if (others.has(repository)) return others.get(repository)
    const get = decided.otherGet(repository)
    let read: Decision | Promise<Decision> | undefined
    const other = get && {
      own: get.isRuleOfAnother ? restrictionOf(true, entityRequest(request, request.verb)) : own,
      readable: async () =>
        restrictionOf(await (read ??= get.decide()), entityRequest(get.question, get.question.verb)),
      explain,
    }
    others.set(repository, other)
    return other
  }
  return {
    restrict: (repository, kind) => {
      const other = kind === 'acts' ? aboutOther(repository) : undefined
      return new RestrictedRepository(repository, other ?? { own, readable, explain }, kind)
    },
  }
}
