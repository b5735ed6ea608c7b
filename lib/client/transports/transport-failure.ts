import type { Registry } from '@bufbuild/protobuf'
import { detailsIn } from '../../error-details.js'
import { AshlarError, type Code, CODES } from '../../errors.js'

const NAMES = new Map<number, Code>((Object.keys(CODES) as Code[]).map((name) => [CODES[name], name]))

/** Returns the name of a status code; UNKNOWN for an undefined number. */
export const codeOf = (number: number): Code => {
  const name = NAMES.get(number)
  return name === undefined || name === 'OK' ? 'UNKNOWN' : name
}

/**
 * Returns the error that a server sent, with its details.
 * @param status - the bytes of a google.rpc.Status; undefined if there are none.
 * @param registry - finds types of details that are unknown to Ashlar.
 */
export const failureOf = (
  code: number,
  message: string,
  status: Uint8Array | undefined,
  registry: Registry,
  cause?: unknown,
): AshlarError =>
  new AshlarError(codeOf(code), message === '' ? 'the server sent no message' : message, {
    details: status === undefined ? [] : readable(status, registry),
    cause,
  })

/** Decodes error details. Invalid ones are ignored, and the code and message remain. */
const readable = (status: Uint8Array, registry: Registry) => {
  try {
    return detailsIn(status, registry)
  } catch {
    return []
  }
}

/** Returns the error of a call that the client ended; undefined if the server ended it. */
export const endedBy = (
  deadline: number | undefined,
  signal: AbortSignal | undefined,
): AshlarError | undefined => {
  if (signal?.aborted === true)
    return new AshlarError('CANCELLED', 'the call was cancelled by its signal', { cause: signal.reason })
  if (deadline !== undefined && Date.now() >= deadline)
    return new AshlarError('DEADLINE_EXCEEDED', "the server did not respond within the call's timeout")
  return undefined
}
