import { requestIdFrom } from '../../text/request-id-from.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'

export interface RequestId {
  readonly requestId: string
}

/** Assigns an id to every call: the caller's own if it is safe to log, or a new one. */
export const requestId = (): Interceptor<RequestId, Passed<'tracing'>> => (next) => (call) => {
  call.requestId = requestIdFrom(call.metadata.get('x-request-id'))
  call.headers.set('x-request-id', call.requestId)
  return next(call as typeof call & RequestId)
}
