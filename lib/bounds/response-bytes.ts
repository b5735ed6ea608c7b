import { ResourceExhausted } from '../errors.js'

/** Returns the error of a response that is larger than `limits.maxResponseBytes`. */
export const responseTooLarge = (maxBytes: number): ResourceExhausted =>
  new ResourceExhausted(
    `the response is larger than ${maxBytes} bytes (limits.maxResponseBytes): request fewer or smaller resources`,
  )

/** Returns the error of a call that would have to read more than `limits.maxResponseBytes`. */
export const readTooLarge = (maxBytes: number): ResourceExhausted =>
  new ResourceExhausted(
    `the named resources have more than ${maxBytes} bytes (limits.maxResponseBytes): name fewer`,
  )

/** @throws ResourceExhausted if a response, or a message of a stream, exceeds the limit. */
export function checkResponseBytes(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw responseTooLarge(maxBytes)
}
