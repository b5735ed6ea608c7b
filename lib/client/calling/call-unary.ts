import { clone, create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { setTimeout as pause } from 'node:timers/promises'
import { Metadata } from '../../call.js'
import { AshlarError } from '../../errors.js'
import type { CallOptions, ClientOptions } from './call-options.js'
import { identify, isRepeatable } from '../retries/repeatable.js'
import { budgetOf } from '../retries/retry-budget.js'
import { pauseOf, type RetryPolicy, retryPolicyOf } from '../retries/retry-policy.js'
import { addMetadata, type ClientMetadata } from '../transports/sent-metadata.js'
import { endedBy } from '../transports/transport-failure.js'
import type { Attempt, ClientTransport } from '../transports/transport.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

const DEFAULT_TIMEOUT_MS = 15_000

/** The options of a client with defaults filled in. */
export interface Calling {
  readonly transport: ClientTransport
  readonly timeoutMs: number
  readonly metadata: ClientMetadata | undefined
  readonly policy: RetryPolicy
}

/**
 * Fills in the defaults of options.
 * @throws RangeError for an invalid option.
 */
export const callingOf = ({
  transport,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  metadata,
  retry,
}: ClientOptions): Calling => ({
  transport,
  timeoutMs: timeoutOf(timeoutMs),
  metadata,
  policy: retryPolicyOf(retry),
})

/** Sends a unary call, and repeats it if that is safe and may help. */
export async function callUnary(
  calling: Calling,
  method: DescMethod,
  init: object,
  options: CallOptions = {},
): Promise<Message> {
  const made = create(method.input, init as Record<string, unknown>)
  // The caller's message is not changed, because sending it twice makes two requests.
  const request = made === init ? clone(method.input, made) : made
  const deadline = Date.now() + timeoutOf(options.timeoutMs ?? calling.timeoutMs)
  const mayRepeat = isRepeatable(method)
  if (mayRepeat && calling.policy.maxAttempts > 1) identify(method, request)
  const budget = budgetOf(calling.transport)
  for (let attempts = 1; ; attempts++) {
    try {
      const attempt = await attemptOf(calling, options, deadline)
      const response = await calling.transport.unary(method, request, attempt)
      budget.succeeded()
      return response
    } catch (error) {
      if (!(error instanceof AshlarError)) throw error
      const pauseMs = pauseOf(error, attempts, calling.policy)
      if (pauseMs === undefined) throw error
      const isAffordable = budget.failed()
      if (!mayRepeat || !isAffordable || attempts >= calling.policy.maxAttempts) throw error
      if (Date.now() + pauseMs >= deadline) throw error
      await paused(pauseMs, options.signal)
    }
  }
}

/**
 * Returns the metadata and limits of one attempt.
 * @throws AshlarError if the call has already ended.
 */
export async function attemptOf(
  { metadata }: Calling,
  options: CallOptions,
  deadline: number | undefined,
): Promise<Attempt> {
  const sent = new Metadata()
  const added = async () => {
    await addMetadata(sent, metadata)
    await addMetadata(sent, options.metadata)
  }
  await untilOver(added(), deadline, options.signal)
  const ended = endedBy(deadline, options.signal)
  if (ended !== undefined) throw ended
  const { signal, onHeaders, onTrailers } = options
  return { metadata: sent, deadline, signal, onHeaders, onTrailers }
}

/** Waits for a function of the caller until the call ends. */
async function untilOver(
  work: Promise<void>,
  deadline: number | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const over = new AbortController()
  const end = () => over.abort()
  const timer = deadline === undefined ? undefined : setTimeout(end, Math.max(0, deadline - Date.now()))
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted === true) end()
  const isOver = over.signal.aborted
    ? Promise.resolve()
    : new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve(), { once: true }))
  try {
    await Promise.race([work, isOver])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/**
 * Waits for some milliseconds.
 * @throws AshlarError CANCELLED if the signal aborts.
 */
export async function paused(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await pause(ms, undefined, { ...(signal !== undefined && { signal }) }).catch((error: unknown) => {
    throw endedBy(undefined, signal) ?? error
  })
}

/**
 * Returns the timeout.
 * @throws RangeError for an invalid time.
 */
export const timeoutOf = (ms: number): number => {
  if (!(ms > 0) || ms > MAX_TIMER_MS)
    throw new RangeError(`timeoutMs is ${ms}, but must be a positive number of milliseconds below 2^31`)
  return ms
}
