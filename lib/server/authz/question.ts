import type { Message } from '@bufbuild/protobuf'
import type { Principal } from '../../context.js'
import type { Deadline } from '../chain/deadline.js'
import type { Method } from '../chain/method.js'
import type { AuthorizationRequest } from './authorizer.js'
import { type ResourceTemplate, resourceTemplate } from './resource-template.js'
import type { Rule } from './rules.js'

/** The authorization request for one call. */
export class Question implements AuthorizationRequest {
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

  /** Returns the same request for another verb. */
  about(verb: string): Question {
    return new Question(this.principal, this.method, verb, this.resource, this.type, false, this.time)
  }
}

/**
 * Builds the authorization request for a rule and a call.
 * @param message - the request, or one message of a client's stream; undefined if the rule's resource has no
 *   fields.
 */
export const questionOf = (
  { method, time }: { readonly method: Method; readonly time: Deadline },
  { verb = '' }: Rule,
  template: ResourceTemplate,
  principal: Principal,
  message: Message | undefined,
  writesShared: boolean,
): Question =>
  new Question(principal, method.path, verb, template.fill(message), template.type, writesShared, time)

/** Returns the compiled resource template of a rule. The result is cached. */
export const templateOf = (method: Method, rule: Rule): ResourceTemplate => {
  const known = templates.get(rule)
  if (known !== undefined) return known
  const template = resourceTemplate(rule.resource ?? '', method.desc.input)
  templates.set(rule, template)
  return template
}

const templates = new WeakMap<Rule, ResourceTemplate>()
