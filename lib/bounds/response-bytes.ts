import { ResourceExhausted } from '../errors.js'

/** The error of a response that is larger than `limits.maxResponseBytes`. */
export const responseTooLarge = (maxBytes: number): ResourceExhausted =>
  new ResourceExhausted(
    `the response is larger than ${maxBytes} bytes (limits.maxResponseBytes): request fewer or smaller resources`,
  )

/** The error of a call that has to read resources of more than `limits.maxResponseBytes`. */
export const readTooLarge = (maxBytes: number): ResourceExhausted =>
  new ResourceExhausted(
    `the named resources have more than ${maxBytes} bytes (limits.maxResponseBytes): name fewer`,
  )

/** @throws ResourceExhausted for a response, or a message of a stream, of more bytes than the limit. */
export function checkResponseBytes(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw responseTooLarge(maxBytes)
}
