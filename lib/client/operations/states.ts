import type { Message } from '@bufbuild/protobuf'
import { type Operation, Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { AshlarError } from '../../errors.js'
import { type Calling, callUnary, paused, timeoutOf } from '../calling/call-unary.js'
import type { CallOptions } from '../calling/call-options.js'

/** The time a client waits for an operation. */
export interface WaitOptions {
  /** Milliseconds until it gives up. Default 600000, which is ten minutes. The operation goes on. */
  readonly timeoutMs?: number
  /** Ends the waiting. The operation goes on. */
  readonly signal?: AbortSignal
}

const DEFAULT_WAIT_MS = 600_000
/**
 * Of one call that waits on the server: for the end, and for progress, of which the server does not tell by
 * itself.
 */
const LONGEST_WAIT_MS = { end: 20_000, progress: 1_000 } as const
/** The time of such a call besides the wait. */
const RESERVE_MS = 5_000
const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/**
 * The states of an operation until it has ended, beginning with the known one. The server waits
 * (`WaitOperation`). If it cannot, or returns at once, it is polled with growing pauses.
 * @throws AshlarError DEADLINE_EXCEEDED if the time is over.
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
    // A server that waited has used up the pause.
    const spentMs = Date.now() - asked
    if (!state.done && spentMs < pauseMs)
      await paused(Math.min(pauseMs - spentMs, Math.max(1, until - Date.now())), signal)
    pauseMs = Math.min(LONGEST_PAUSE_MS, LONGEST_WAIT_MS[waitingFor], pauseMs * (1.2 + Math.random()))
  }
}

/** Failures of one question that say nothing of the operation. */
const PASSING: ReadonlySet<string> = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED'])

const durationOf = (ms: number) => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: Math.floor(ms % 1000) * 1_000_000,
})
