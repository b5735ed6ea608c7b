import { type DescMethod, getOption, hasOption } from '@bufbuild/protobuf'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import type { HttpRule } from 'ashlar-annotations/google/api/http_pb.js'
import { optionReader } from './option-reader.js'

/** The paths of a method over HTTP. */
export const pathsOf = (method: DescMethod): string[] => httpRulesOf(method).map(pathOf)

/**
 * The HTTP rule of a method with its additional ones, in the order of the .proto; none for a method without.
 */
export const httpRulesOf = optionReader((method: DescMethod): readonly HttpRule[] => {
  if (!hasOption(method, http)) return []
  const rule = getOption(method, http)
  return [rule, ...rule.additionalBindings]
})

/** The path of a rule; `''` for one without. */
export function pathOf({ pattern }: HttpRule): string {
  if (pattern.case === undefined) return ''
  return pattern.case === 'custom' ? pattern.value.path : pattern.value
}

/** The HTTP method of a rule, `*` for every one; `''` for a rule without. */
export function httpMethodOf({ pattern }: HttpRule): string {
  if (pattern.case === undefined) return ''
  return pattern.case === 'custom' ? pattern.value.kind : pattern.case.toUpperCase()
}

/** True if every HTTP rule of a method is a GET: one that is reached by another method too may write. */
export function isGetAlone(method: DescMethod): boolean {
  const rules = httpRulesOf(method)
  return rules.length > 0 && rules.every(({ pattern }) => pattern.case === 'get')
}
