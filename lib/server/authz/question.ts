import type { Message } from '@bufbuild/protobuf'
import type { Principal } from '../../context.js'
import type { Deadline } from '../chain/deadline.js'
import type { Method } from '../chain/method.js'
import type { AuthorizationRequest } from './authorizer.js'
import { type ResourceTemplate, resourceTemplate } from './resource-template.js'
import type { Rule } from './rules.js'

/** What the authorizer is asked about one call. */
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

  /** The same about another verb. */
  about(verb: string): Question {
    return new Question(this.principal, this.method, verb, this.resource, this.type, false, this.time)
  }
}

/**
 * The question of a rule about a call.
 * @param message - the request, or one of the messages of a client's stream; undefined where the resource of
 * the rule has no fields.
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

/** The resource of a rule, and which fields of the request it names. */
export const templateOf = (method: Method, rule: Rule): ResourceTemplate => {
  const known = templates.get(rule)
  if (known !== undefined) return known
  const template = resourceTemplate(rule.resource ?? '', method.desc.input)
  templates.set(rule, template)
  return template
}

const templates = new WeakMap<Rule, ResourceTemplate>()
