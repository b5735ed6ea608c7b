import type { IncomingHttpHeaders } from 'node:http'
import { InvalidArgument } from '../../errors.js'
import { timeoutMs } from '../../gateway/http/grpc-timeout.js'
import type { WireFormat } from './wire-format.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/**
 * Returns the caller's deadline in milliseconds since the epoch, from `connect-timeout-ms` or `grpc-timeout`.
 * Timeouts above 24 days are reduced to 24 days.
 * @throws InvalidArgument for a value that the protocol does not allow.
 */
export const deadlineOf = (
  { protocol }: WireFormat,
  headers: IncomingHttpHeaders,
  now: number,
): number | undefined => {
  const given = headers[protocol === 'connect' ? 'connect-timeout-ms' : 'grpc-timeout']
  if (given === undefined) return undefined
  const ms = protocol === 'connect' ? connectTimeoutMs(String(given)) : timeoutMs(String(given))
  return now + Math.min(ms, MAX_TIMER_MS)
}

const connectTimeoutMs = (text: string): number => {
  if (!/^[0-9]{1,10}$/.test(text))
    throw new InvalidArgument('', 'the header connect-timeout-ms must be 1 to 10 digits')
  return Number(text)
}
