import type { DescService } from '@bufbuild/protobuf'
import { bindingOf } from '../gateway/routing/bindings.js'
import { httpRulesOf } from '../resource/messages/http-paths.js'
import { pathsOf } from './operation/path-text.js'

/**
 * Returns the paths of all rules without variables. Invalid rules are ignored, because the check of the
 * routes reports them.
 */
export function literalPaths(services: readonly DescService[]): ReadonlySet<string> {
  const paths = new Set<string>()
  for (const { methods } of services)
    for (const method of methods)
      for (const [index, rule] of httpRulesOf(method).entries())
        try {
          const binding = bindingOf(method, rule, index)
          const path = pathsOf([binding]).get(binding)
          if (path?.parameters.length === 0) paths.add(path.text)
        } catch (error) {
          if (!(error instanceof TypeError)) throw error
        }
  return paths
}
