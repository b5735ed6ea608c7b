import type { Message } from '@bufbuild/protobuf'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { AuthorizationRequest, Authorizer } from '../authz/authorizer.js'
import type { RelatedDecisions } from '../chain/row-access.js'
import { decisionOf, type Restriction, restrictionOf } from '../authz/decision.js'

/** The call that accesses related resources. */
export interface RelatedQuestion extends Pick<AuthorizationRequest, 'principal' | 'method' | 'signal'> {
  readonly message: () => Message
}

/**
 * A caller's permissions on related resources. The authorizer decides about each type, with the type as the
 * resource.
 */
export class AuthorizedRelated implements RelatedDecisions {
  /** @param verb - the action of the call. */
  constructor(
    private readonly authorizer: Authorizer,
    private readonly verb: 'delete' | 'undelete',
    private readonly question: RelatedQuestion,
  ) {}

  change(model: ResourceModel): Promise<Restriction> {
    return this.#decide(this.verb, model)
  }

  list(model: ResourceModel): Promise<Restriction> {
    return this.#decide('list', model)
  }

  /** Returns the same permissions for work that continues after the call has ended. */
  during(signal: AbortSignal): AuthorizedRelated {
    const { principal, method, message } = this.question
    return new AuthorizedRelated(this.authorizer, this.verb, { principal, method, message, signal })
  }

  async #decide(verb: string, { type, tenant }: ResourceModel): Promise<Restriction> {
    const { principal, method, signal, message } = this.question
    const writesShared = tenant === undefined && verb !== 'list'
    const request: AuthorizationRequest = {
      principal,
      method,
      verb,
      resource: type,
      type,
      writesShared,
      signal,
    }
    const decision = decisionOf(await this.authorizer.authorize(request), this.authorizer)
    return restrictionOf(decision, () => ({ ...request, message: message() }))
  }
}
