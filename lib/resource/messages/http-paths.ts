import { type DescMethod, getOption, hasOption } from '@bufbuild/protobuf'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import type { HttpRule } from 'ashlar-annotations/google/api/http_pb.js'
import { optionReader } from './option-reader.js'

/** Returns the HTTP paths of a method. */
export const pathsOf = (method: DescMethod): string[] => httpRulesOf(method).map(pathOf)

/**
 * Returns a method's HTTP rule and its additional bindings in the order of the .proto; empty if it has none.
 */
export const httpRulesOf = optionReader((method: DescMethod): readonly HttpRule[] => {
  if (!hasOption(method, http)) return []
  const rule = getOption(method, http)
  return [rule, ...rule.additionalBindings]
})

/** Returns the path of a rule; `''` if it has none. */
export function pathOf({ pattern }: HttpRule): string {
  if (pattern.case === undefined) return ''
  return pattern.case === 'custom' ? pattern.value.path : pattern.value
}

/** Returns the HTTP method of a rule, `*` for any method, `''` if there is none. */
export function httpMethodOf({ pattern }: HttpRule): string {
  if (pattern.case === undefined) return ''
  return pattern.case === 'custom' ? pattern.value.kind : pattern.case.toUpperCase()
}

/**
 * Returns true if every HTTP rule of a method is a GET. A method that other HTTP methods also reach may
 * write.
 */
export function isGetAlone(method: DescMethod): boolean {
  const rules = httpRulesOf(method)
  return rules.length > 0 && rules.every(({ pattern }) => pattern.case === 'get')
}
