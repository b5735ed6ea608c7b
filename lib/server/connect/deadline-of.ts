import type { IncomingHttpHeaders } from 'node:http'
import { InvalidArgument } from '../../errors.js'
import { timeoutMs } from '../../gateway/http/grpc-timeout.js'
import type { WireFormat } from './wire-format.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/**
 * The caller's deadline, in milliseconds since the epoch: of `connect-timeout-ms`, or of `grpc-timeout`. A
 * timeout of more than 24 days is that long.
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
