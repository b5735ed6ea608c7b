import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf'
import { rule as ruleOption } from '../../gen/ashlar/api/v1/annotations_pb.js'
import { pathOf } from '../chain/method.js'

/** Who may call a method: whoever is granted `verb` on `resource`, or everybody. */
export interface Rule {
  /** gRPC full method name, `/package.Service/Method`. */
  readonly method: string
  /** get, list, watch, create, update, delete, or a word of your own. */
  readonly verb?: string
  /** Resource type, or a template such as `zone:{zone_id}` that is filled from the request. */
  readonly resource?: string
  /** Anyone may call the method, with or without an identity. */
  readonly public?: boolean
}

/** The rule a method carries as its `ashlar.api.v1.rule` option. */
export const ruleOf = (desc: DescMethod): Rule | undefined => {
  if (!hasOption(desc, ruleOption)) return undefined
  const { verb, resource, public: isPublic } = getOption(desc, ruleOption)
  return { method: pathOf(desc), verb, resource, public: isPublic }
}

/** The rules of every method of a service that carries one. */
export const rulesOf = (service: DescService): Rule[] =>
  service.methods.map(ruleOf).filter((rule): rule is Rule => rule !== undefined)

/** The accumulated rules, looked up by full method name. Rules may be added at any time; the chain sees them at once. */
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

  all(): readonly Rule[] {
    return [...this.#rules]
  }

  /** Methods with two rules that disagree, each said in words. */
  contradictions(): readonly string[] {
    return this.#contradictions
  }
}

/** A rule that says neither who nor that everybody may call says nothing. */
export const isDeclared = (rule: Rule | undefined): boolean =>
  rule !== undefined && (rule.public === true || (rule.verb ?? '') !== '')

const agree = (a: Rule, b: Rule): boolean =>
  (a.verb ?? '') === (b.verb ?? '') &&
  (a.resource ?? '') === (b.resource ?? '') &&
  (a.public ?? false) === (b.public ?? false)

const textOf = (rule: Rule): string =>
  rule.public === true ? 'public' : `${rule.verb ?? ''} ${rule.resource ?? ''}`.trim() || 'an empty rule'
