import type { DescService } from '@bufbuild/protobuf'
import type { Problem } from '../../errors.js'
import { pathOf } from '../chain/method.js'
import { undeclaredProblems } from './missing-rules.js'
import { typeOf } from './resource-template.js'
import { type Rule, RuleSet, rulesOf } from './rules.js'
import { ruleFindings } from './start-up-check.js'

/**
 * The findings about rules of services that are not part of a running server.
 * @internal
 */
export interface RuleInspection {
  readonly problems: readonly Problem[]
  /** Resource types that appear in rules but have no entity class, one sentence each. */
  readonly notes: readonly string[]
}

/**
 * Checks the rules in the .proto files of services.
 * @internal
 * @param types - the resource types that have an entity class.
 */
export function inspectRules(services: readonly DescService[], types: ReadonlySet<string>): RuleInspection {
  const methods = services.flatMap((service) => service.methods)
  const rules = services.flatMap(rulesOf)
  const byPath = new Map(methods.map((desc) => [pathOf(desc), desc]))
  const { undeclared, problems } = ruleFindings(byPath, [], new RuleSet(rules))
  return { problems: [...undeclaredProblems(undeclared), ...problems], notes: unknownTypes(rules, types) }
}

/**
 * Returns the resource types that appear in rules but have no entity class, one sentence each with the
 * methods.
 * @internal
 */
export function unknownTypes(rules: readonly Rule[], types: ReadonlySet<string>): readonly string[] {
  const found = new Map<string, string[]>()
  for (const { method, resource, public: isPublic } of rules) {
    const type = typeOf(resource ?? '')
    if (isPublic === true || type === '' || types.has(type) || OF_FRAMEWORKS.test(method)) continue
    found.set(type, [...(found.get(type) ?? []), method])
  }
  return [...found].map(
    ([type, methods]) => `no class is the resource "${type}" in the rule of ${methods.join(', ')}`,
  )
}

const OF_FRAMEWORKS = /^\/(?:google|grpc)\./
