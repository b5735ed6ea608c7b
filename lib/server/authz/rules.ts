import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf'
import { rule as ruleOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { goRule } from '../../resource/messages/go-options.js'
import { pathOf } from '../chain/method.js'

/** States who may call a method: principals with a grant of `verb` on `resource`, or everyone. */
export interface Rule {
  /** gRPC full method name, `/package.Service/Method`. */
  readonly method: string
  /** get, list, watch, create, update, delete, or a verb of your own. */
  readonly verb?: string
  /** A resource type, or a template such as `zone:{zone_id}` that is filled from the request. */
  readonly resource?: string
  /** If true, anyone may call the method, with or without an identity. */
  readonly public?: boolean
}

/** Returns the rule in a method's `ashlar.api.v1.rule` option or in the Go framework's option. */
export const ruleOf = (desc: DescMethod): Rule | undefined => {
  const found = hasOption(desc, ruleOption) ? getOption(desc, ruleOption) : goRule(desc)
  if (found === undefined) return undefined
  const { verb, resource, public: isPublic } = found
  return { method: pathOf(desc), verb, resource, public: isPublic }
}

/** Returns the rules in the options of a service's methods. */
export const rulesOf = (service: DescService): Rule[] =>
  service.methods.map(ruleOf).filter((rule): rule is Rule => rule !== undefined)

/** All rules by full method name. Rules can be added at any time and take effect at once. */
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

  /** Returns the rule if it declares who may call the method: it must have a verb or be public. */
  declared(method: string): Rule | undefined {
    const rule = this.#byMethod.get(method)
    return rule?.public === true || (rule?.verb ?? '') !== '' ? rule : undefined
  }

  /** Returns true if two methods have equal rules or both have none. */
  agree(method: string, other: string): boolean {
    const [a, b] = [this.of(method), this.of(other)]
    return a === undefined || b === undefined ? a === b : agree(a, b)
  }

  all(): readonly Rule[] {
    return [...this.#rules]
  }

  /** Returns one sentence for each method with contradicting rules. */
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
