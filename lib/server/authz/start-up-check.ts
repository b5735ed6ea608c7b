import { problem, type Problem } from '../../errors.js'
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import type { Undeclared } from './missing-rules.js'
import { resourceTemplate } from './resource-template.js'
import type { RuleSet } from './rules.js'

/** Problems in the rules of a server's methods. */
export interface RuleFindings {
  /** Methods that have neither a rule nor `public`. */
  readonly undeclared: readonly Undeclared[]
  /** Rules that contradict each other, and invalid templates. */
  readonly problems: readonly Problem[]
}

/**
 * Checks the rules of all methods.
 * @param recorded - full names of methods served without a descriptor.
 * @param resourceTypeOf - the resource type of a service's repository, for the suggested rule.
 */
export const ruleFindings = (
  methods: ReadonlyMap<string, DescMethod>,
  recorded: readonly string[],
  rules: RuleSet,
  resourceTypeOf: (service: DescService) => string | undefined = () => undefined,
): RuleFindings => {
  const names = new Set([...methods.keys(), ...recorded])
  const undeclared = [...names].filter((name) => rules.declared(name) === undefined).sort()
  return {
    undeclared: undeclared.map((path) => {
      const desc = methods.get(path)
      return { path, desc, resourceType: desc && resourceTypeOf(desc.parent) }
    }),
    problems: [
      ...rules.contradictions().map((text) => problem('rule', text)),
      ...brokenTemplates(methods, rules),
    ],
  }
}

const brokenTemplates = (methods: ReadonlyMap<string, DescMethod>, rules: RuleSet): Problem[] =>
  rules.all().flatMap(({ method, resource }) => {
    const desc = methods.get(method)
    if (desc === undefined) return []
    try {
      resourceTemplate(resource ?? '', desc.input)
      return []
    } catch (error) {
      return [problem('rule', `${method}: resource "${resource ?? ''}"`, (error as TypeError).message)]
    }
  })
