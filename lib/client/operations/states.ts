import type { Message } from '@bufbuild/protobuf'
import { type Operation, Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { AshlarError } from '../../errors.js'
import { type Calling, callUnary, paused, timeoutOf } from '../calling/call-unary.js'
import type { CallOptions } from '../calling/call-options.js'

/** Limits on waiting for an operation. */
export interface WaitOptions {
  /** Timeout in milliseconds. Default: 600,000 (ten minutes). The operation continues after it. */
  readonly timeoutMs?: number
  /** Stops waiting. The operation continues. */
  readonly signal?: AbortSignal
}

const DEFAULT_WAIT_MS = 600_000
/**
 * The maximum time in milliseconds for which one call waits on the server. It is short for progress, which
 * the server does not report by itself.
 */
const LONGEST_WAIT_MS = { end: 20_000, progress: 1_000 } as const
/** Added to the wait as the timeout of such a call, in milliseconds. */
const RESERVE_MS = 5_000
const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/**
 * Yields the states of an operation until it has ended, starting with the known one. The server waits
 * (`WaitOperation`). If it does not support that or returns at once, the client polls with increasing pauses.
 * @throws AshlarError DEADLINE_EXCEEDED after the timeout.
 */
export async function* statesOf(
  calling: Calling,
  known: Operation,
  { metadata }: CallOptions,
  { timeoutMs = DEFAULT_WAIT_MS, signal }: WaitOptions,
  waitingFor: keyof typeof LONGEST_WAIT_MS,
): AsyncIterable<Operation> {
  const until = Date.now() + timeoutOf(timeoutMs)
  const { name } = known
  let state = known
  let canWait = true
  yield state
  for (let pauseMs = SHORTEST_PAUSE_MS; !state.done;) {
    const asked = Date.now()
    const leftMs = until - asked
    if (leftMs <= 0)
      throw new AshlarError(
        'DEADLINE_EXCEEDED',
        `${name} did not finish within ${timeoutMs} ms, and is still running`,
      )
    const waitMs = Math.min(leftMs, LONGEST_WAIT_MS[waitingFor])
    const options: CallOptions = {
      timeoutMs: canWait ? waitMs + RESERVE_MS : Math.min(leftMs, calling.timeoutMs),
      ...(metadata !== undefined && { metadata }),
      ...(signal !== undefined && { signal }),
    }
    try {
      const { waitOperation, getOperation } = Operations.method
      const response: Message = canWait
        ? await callUnary(calling, waitOperation, { name, timeout: durationOf(waitMs) }, options)
        : await callUnary(calling, getOperation, { name }, options)
      state = response as Operation
      yield state
    } catch (error) {
      if (!(error instanceof AshlarError)) throw error
      if (canWait && error.code === 'UNIMPLEMENTED') canWait = false
      else if (!PASSING.has(error.code)) throw error
    }
    // If the server waited, the pause has passed already.
    const spentMs = Date.now() - asked
    if (!state.done && spentMs < pauseMs)
      await paused(Math.min(pauseMs - spentMs, Math.max(1, until - Date.now())), signal)
    pauseMs = Math.min(LONGEST_PAUSE_MS, LONGEST_WAIT_MS[waitingFor], pauseMs * (1.2 + Math.random()))
  }
}

/** Errors of one request that say nothing about the operation. */
const PASSING: ReadonlySet<string> = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED'])

const durationOf = (ms: number) => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: Math.floor(ms % 1000) * 1_000_000,
})
