import type { DescMethod } from '@bufbuild/protobuf'
import type { MethodFacts } from '../../openapi/source/source.js'
import type { Rule } from '../authz/rules.js'
import type { Handler } from '../chain/handler.js'
import { methodOf } from '../chain/method.js'
import { READING } from '../interceptors/idempotency.js'
import type { MethodShape } from './method-shape.js'

/**
 * Returns the properties of a method that the document states.
 * @param handler - undefined if a service is described without its implementation.
 */
export const methodFacts = (
  desc: DescMethod,
  handler: Handler | undefined,
  rule: Rule | undefined,
  { standard, resource }: MethodShape,
): MethodFacts => {
  const { isStreaming, requestEtag, responseEtag } = methodOf(desc)
  const verb = rule?.verb ?? ''
  return {
    isPublic: rule?.public === true,
    verb,
    standard: standard?.kind,
    resource,
    comparesEtags: handler?.supportsIfMatch ?? requestEtag !== undefined,
    returnsEtag: responseEtag !== undefined,
    isRepeatable: !isStreaming && !READING.has(verb),
  }
}
