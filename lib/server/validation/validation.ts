import type { Message } from '@bufbuild/protobuf'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import { fieldCheck } from './field-check.js'
import type { MessageRules } from './protovalidate.js'
import { Violations } from './violations.js'

/**
 * Rejects a request or a stream's message that violates the rules of its .proto, with all violations in one
 * error.
 * @param rules - the `buf.validate` rules; undefined if no message has any.
 */
export const validation =
  (rules: MessageRules | undefined): Interceptor<unknown, Passed<'fieldMask'>> =>
  (next, { method }) => {
    const { input } = method.desc
    const [fields, ofMessage] = [fieldCheck(input), rules?.checkOf(input)]
    if (fields === undefined && ofMessage === undefined) return next
    const validate = (message: Message, ignoredMask: readonly string[]): void => {
      // The size is checked first, because no other rule may read a value that is too large.
      const evaluate = ofMessage?.(message, ignoredMask)
      const violations = new Violations()
      fields?.(message, ignoredMask, violations)
      evaluate?.(violations)
      violations.refuse()
    }
    return (call) => {
      const { request, requests } = call
      if (request !== undefined) validate(request, call.ignoredMask)
      if (requests !== undefined) call.requests = eachValid(requests, (message) => validate(message, []))
      return next(call)
    }
  }

async function* eachValid(
  requests: AsyncIterable<Message>,
  validate: (message: Message) => void,
): AsyncIterable<Message> {
  for await (const request of requests) {
    validate(request)
    yield request
  }
}
