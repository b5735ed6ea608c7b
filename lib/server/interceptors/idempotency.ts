import type { Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { Redaction } from '../../resource/redaction.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import type { RuleSet } from '../authz/rules.js'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'
import type { IdempotencyStore } from '../idempotency/idempotency-store.js'
import { KeyedCall, type Leaders } from '../idempotency/keyed-call.js'
import type { Keeping } from '../idempotency/run-claimed.js'
import { UnrecordedCalls } from '../idempotency/unrecorded-calls.js'
import type { Logger } from '../observability/logger.js'
import type { Authorized } from './authorization.js'
import type { RequestId } from './request-id.js'

/** Verbs of methods that change nothing. Idempotency keys have no effect on them. */
export const READING: ReadonlySet<string | undefined> = new Set(['get', 'list', 'watch'])

type Needs = RequestId & Authorized & Passed<'validateOnly'>

/**
 * Runs a call with a request id (AIP-155) once, as described in {@link KeyedCall}. Errors are not stored. For
 * each key, only one call per process queries the store.
 */
export const idempotency = (
  store: IdempotencyStore,
  redaction: Redaction,
  logger: Logger,
  rules: RuleSet,
): Interceptor<unknown, Needs> => {
  const leaders: Leaders = new Map()
  const keeping: Keeping = { store, redaction, logger, unrecorded: new UnrecordedCalls() }
  return (next, { method, handler }) => {
    if (READING.has(rules.declared(method.path)?.verb)) return next
    if (method.clientStreams) return (call) => next(withoutKey(call))
    if (method.isStreaming) return next
    return (call) => {
      const requestId = retryIdOf(call)
      if (requestId === undefined) return next(call)
      return new KeyedCall(requestId, call, handler, keeping, leaders, () => next(call)).reply()
    }
  }
}

/**
 * Rejects an idempotency key on a client's stream. A stream is read while the handler runs, so it cannot be
 * compared with another one.
 */
const withoutKey = <C extends Call>(call: C): C => {
  const { metadata, method, requests } = call
  if (metadata.get('idempotency-key') !== undefined)
    throw new InvalidArgument(
      'idempotency-key',
      `${method.desc.name} does not support idempotency keys: call it without Idempotency-Key`,
    )
  if (requests !== undefined && method.requestId !== undefined)
    call.requests = eachWithoutKey(requests, method)
  return call
}

async function* eachWithoutKey(requests: AsyncIterable<Message>, method: Method): AsyncIterable<Message> {
  for await (const request of requests) {
    if (method.requestId?.(request))
      throw new InvalidArgument(
        'request_id',
        `${method.desc.name} does not support idempotency keys: leave request_id out of the stream's messages`,
      )
    yield request
  }
}

/**
 * Returns the request id of a call; undefined if idempotency does not apply, because the call streams, only
 * validates, or has no principal.
 */
const retryIdOf = (call: Call & Needs): string | undefined => {
  const { method, request, validateOnly, principal, metadata } = call
  if (request === undefined || validateOnly) return undefined
  const header = metadata.get('idempotency-key') ?? ''
  const field = method.requestId?.(request) ?? ''
  const requestId = field === '' ? header : field
  if (requestId === '' || isAnonymous(principal)) return undefined
  if (header !== '' && header !== requestId) {
    throw new InvalidArgument(
      'request_id',
      'differs from Idempotency-Key: send one of them, or the same in both',
    )
  }
  if (!/^[^\p{C}]{1,255}$/u.test(requestId)) {
    throw new InvalidArgument('request_id', 'must be 1 to 255 characters without control characters')
  }
  return requestId
}
