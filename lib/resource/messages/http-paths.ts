import { type DescMethod, getOption, hasOption } from '@bufbuild/protobuf'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import type { HttpRule } from 'ashlar-annotations/google/api/http_pb.js'

/** The paths of a method over HTTP. */
export const pathsOf = (method: DescMethod): string[] => {
  if (!hasOption(method, http)) return []
  const rule = getOption(method, http)
  return [rule, ...rule.additionalBindings].map(pathOf)
}

const pathOf = ({ pattern }: HttpRule): string => {
  if (pattern.case === undefined) return ''
  return pattern.case === 'custom' ? pattern.value.path : pattern.value
}
