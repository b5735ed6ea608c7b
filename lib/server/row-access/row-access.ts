import type { Message } from '@bufbuild/protobuf'
import type { AuthorizationRequest } from '../authz/authorizer.js'
import { type Decision, type EntityRequest, restrictionOf } from '../authz/decision.js'
import type { RowAccess } from '../chain/row-access.js'
import { RestrictedRepository } from './restricted-repository.js'

/** A decision by row, and who is asked when another is needed. */
export interface DecidedByRow {
  readonly decision: Decision
  readonly request: AuthorizationRequest
  readonly message: () => Message
  /** Decides about `get` of the same resource. */
  readonly decideGet: () => Decision | Promise<Decision>
  readonly explain: (why: string) => void
}

/** Carries a decision by row out. `get` is asked about once per call, when it matters. */
export const rowAccess = ({ decision, request, message, decideGet, explain }: DecidedByRow): RowAccess => {
  const entityRequest = (verb: string) => (): EntityRequest => {
    const { principal, method, resource, type, signal } = request
    return { principal, method, verb, resource, type, signal, message: message() }
  }
  const own = restrictionOf(decision, entityRequest(request.verb))
  let decided: Decision | Promise<Decision> | undefined
  const readable = async () => restrictionOf(await (decided ??= decideGet()), entityRequest('get'))
  return {
    restrict: (repository, kind) => new RestrictedRepository(repository, { own, readable, explain }, kind),
  }
}
