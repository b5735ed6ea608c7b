import type { Interceptor, Passed } from '../interceptor.js'
import type { Validated } from './validate-only.js'

/** Where replays are answered from. */
export const idempotency = (): Interceptor<Passed<'idempotency'>, Validated> => (call, next) =>
  next(call.passed('idempotency'))
