import type { Message } from '@bufbuild/protobuf'
import type { Repository } from '../../persistence/contract/repository.js'
import type { AuthorizationRequest } from '../authz/authorizer.js'
import { type Decision, type EntityRequest, restrictionOf } from '../authz/decision.js'
import type { RowAccess } from '../chain/row-access.js'
import type { Decided } from './decided.js'
import type { OtherRead } from './other-reads.js'
import { RestrictedRepository } from './restricted-repository.js'

/** A row-level decision, and functions for further decisions. */
export interface DecidedByRow {
  readonly decision: Decision
  readonly request: AuthorizationRequest
  readonly message: () => Message
  /** Decides about `get` on the rule's resource. */
  readonly decideGet: () => Decision | Promise<Decision>
  /** Returns the read permission of a repository's rows, if the decision about `get` does not cover it. */
  readonly otherRead: (repository: Repository<object>) => OtherRead | undefined
  readonly explain: (why: string) => void
}

/** Applies a row-level decision. The authorizer decides about `get` at most once per call and resource. */
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
  const others = new Map<Repository<object>, Other | undefined>()
  const otherOf = (repository: Repository<object>): Other | undefined => {
    if (others.has(repository)) return others.get(repository)
    const found = decided.otherRead(repository)
    let read: Decision | Promise<Decision> | undefined
    const other = found && {
      isRuleOfAnother: found.isRuleOfAnother,
      readable: async () =>
        restrictionOf(await (read ??= found.decide()), entityRequest(found.question, found.question.verb)),
    }
    others.set(repository, other)
    return other
  }
  const ofCall: Decided = { own, readable, explain }
  return {
    restrict: (repository, kind, references) => {
      const referring = references?.of(repository, kind)
      const other = kind === 'reads' ? undefined : otherOf(repository)
      if (other === undefined) return new RestrictedRepository(repository, ofCall, kind, referring)
      // For a standard method, the decision applies to the rows of its repository, whatever resource the rule
      // names.
      const isFree = kind === 'acts' && other.isRuleOfAnother
      const ownOf = isFree ? restrictionOf(true, entityRequest(request, request.verb)) : own
      const decidedOf = { own: ownOf, readable: other.readable, explain }
      return new RestrictedRepository(repository, decidedOf, kind, referring)
    },
  }
}

/** The decision of the method that reads a resource. */
interface Other extends Pick<Decided, 'readable'>, Pick<OtherRead, 'isRuleOfAnother'> {}
