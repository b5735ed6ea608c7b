import { DeclarationError, problem, type Problem } from '../../errors.js'
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { undeclaredError } from './missing-rules.js'
import { resourceTemplate } from './resource-template.js'
import type { RuleSet } from './rules.js'

/**
 * Refuses to serve while a method has neither a rule nor a public exemption, or has two contradicting rules.
 * @param recorded - full names of methods that are served without a descriptor.
 * @param resourceTypeOf - the resource type of a service's repository, for the suggested rule.
 */
export const startUpCheck = (
  methods: ReadonlyMap<string, DescMethod>,
  recorded: readonly string[],
  rules: RuleSet,
  resourceTypeOf: (service: DescService) => string | undefined = () => undefined,
): void => {
  const names = new Set([...methods.keys(), ...recorded])
  const undeclared = [...names].filter((name) => rules.declared(name) === undefined).sort()
  if (undeclared.length > 0) {
    throw undeclaredError(
      undeclared.map((path) => {
        const desc = methods.get(path)
        return { path, desc, resourceType: desc && resourceTypeOf(desc.parent) }
      }),
    )
  }
  const problems = [
    ...rules.contradictions().map((text) => problem('rule', text)),
    ...brokenTemplates(methods, rules),
  ]
  if (problems.length > 0) throw new DeclarationError('authz', problems)
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
