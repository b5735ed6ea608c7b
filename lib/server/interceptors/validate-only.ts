import { create, type Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'

/**
 * Answers a `validate_only` call (AIP-163) without running a handler that would write. Rejects a
 * `validate_only` in a batch item or in a streamed message, where it has no effect.
 */
export const validateOnly =
  (): Interceptor<unknown, Passed<'readMask'>> =>
  (next, { method, handler: { supportsValidateOnly, readsNestedValidateOnly } }) => {
    if (method.validateOnly === undefined && method.nestedValidateOnly === undefined) return next
    return (call) => {
      const { request, requests } = call
      const validateOnly = request !== undefined && method.validateOnly?.(request) === true
      call.validateOnly = validateOnly
      if (validateOnly && !supportsValidateOnly) return create(method.desc.output)
      if (!validateOnly && !readsNestedValidateOnly) {
        if (request !== undefined) refuseNested(method, request)
        if (requests !== undefined) call.requests = eachWithout(requests, method)
      }
      return next(call)
    }
  }

const refuseNested = ({ nestedValidateOnly }: Method, request: Message): void => {
  const path = nestedValidateOnly?.(request)
  if (path !== undefined)
    throw new InvalidArgument(
      path,
      'is not supported here, so everything would be written: send it for the whole call',
    )
}

async function* eachWithout(requests: AsyncIterable<Message>, method: Method): AsyncIterable<Message> {
  for await (const request of requests) {
    if (method.validateOnly?.(request) === true)
      throw new InvalidArgument('validate_only', `is not supported by ${method.desc.name}: leave it out`)
    refuseNested(method, request)
    yield request
  }
}
