import { requestIdFrom } from '../../text/request-id-from.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'

export interface RequestId {
  readonly requestId: string
}

/** Gives every call an id, the caller's own when it is safe to log. */
export const requestId = (): Interceptor<RequestId, Passed<'tracing'>> => (next) => (call) => {
  call.requestId = requestIdFrom(call.metadata.get('x-request-id'))
  call.headers.set('x-request-id', call.requestId)
  return next(call as typeof call & RequestId)
}
