import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf'
import { rule as ruleOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { goRule } from '../../resource/messages/go-options.js'
import { pathOf } from '../chain/method.js'

/** The callers of a method: principals with a grant of `verb` on `resource`, or everyone. */
export interface Rule {
  /** gRPC full method name, `/package.Service/Method`. */
  readonly method: string
  /** get, list, watch, create, update, delete, or your own word. */
  readonly verb?: string
  /** Resource type, or a template such as `zone:{zone_id}` that is filled from the request. */
  readonly resource?: string
  /** Anyone may call the method, with or without an identity. */
  readonly public?: boolean
}

/** The rule in a method's `ashlar.api.v1.rule` option, or in the Go framework's option. */
export const ruleOf = (desc: DescMethod): Rule | undefined => {
  const found = hasOption(desc, ruleOption) ? getOption(desc, ruleOption) : goRule(desc)
  if (found === undefined) return undefined
  const { verb, resource, public: isPublic } = found
  return { method: pathOf(desc), verb, resource, public: isPublic }
}

/** The rules in the options of a service's methods. */
export const rulesOf = (service: DescService): Rule[] =>
  service.methods.map(ruleOf).filter((rule): rule is Rule => rule !== undefined)

/** All rules, looked up by full method name. Rules can be added at any time; the chain uses them at once. */
export class RuleSet {
  readonly #byMethod = new Map<string, Rule>()
  readonly #rules: Rule[] = []
  readonly #contradictions: string[] = []

  constructor(rules: readonly Rule[] = []) {
    this.add(...rules)
  }

  add(...rules: readonly Rule[]): void {
    for (const rule of rules) {
      const known = this.#byMethod.get(rule.method)
      if (known === undefined) {
        this.#byMethod.set(rule.method, rule)
        this.#rules.push(rule)
      } else if (!agree(known, rule)) {
        this.#contradictions.push(
          `${rule.method}: ${textOf(known)} and ${textOf(rule)} contradict each other`,
        )
      }
    }
  }

  of(method: string): Rule | undefined {
    return this.#byMethod.get(method)
  }

  /** The rule, where it says who may call the method: one with neither a verb nor `public` says nothing. */
  declared(method: string): Rule | undefined {
    const rule = this.#byMethod.get(method)
    return rule?.public === true || (rule?.verb ?? '') !== '' ? rule : undefined
  }

  /** True if two methods have the same rule, or none of them has one. */
  agree(method: string, other: string): boolean {
    const [a, b] = [this.of(method), this.of(other)]
    return a === undefined || b === undefined ? a === b : agree(a, b)
  }

  all(): readonly Rule[] {
    return [...this.#rules]
  }

  /** Methods with two contradicting rules, one text each. */
  contradictions(): readonly string[] {
    return this.#contradictions
  }
}

const agree = (a: Rule, b: Rule): boolean =>
  (a.verb ?? '') === (b.verb ?? '') &&
  (a.resource ?? '') === (b.resource ?? '') &&
  (a.public ?? false) === (b.public ?? false)

const textOf = (rule: Rule): string =>
  rule.public === true ? 'public' : `${rule.verb ?? ''} ${rule.resource ?? ''}`.trim() || 'an empty rule'
