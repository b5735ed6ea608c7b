import type { Registry } from '@bufbuild/protobuf'
import { detailsIn } from '../../error-details.js'
import { AshlarError, type Code, CODES } from '../../errors.js'

const NAMES = new Map<number, Code>((Object.keys(CODES) as Code[]).map((name) => [CODES[name], name]))

/** The name of a code; UNKNOWN for a number that no code has. */
export const codeOf = (number: number): Code => {
  const name = NAMES.get(number)
  return name === undefined || name === 'OK' ? 'UNKNOWN' : name
}

/**
 * The error that a server returned, with its details.
 * @param status - the bytes of a google.rpc.Status; undefined if there are none.
 * @param registry - finds the types of details that Ashlar does not know.
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

/** Details that are not a google.rpc.Status leave the code and the message unchanged. */
const readable = (status: Uint8Array, registry: Registry) => {
  try {
    return detailsIn(status, registry)
  } catch {
    return []
  }
}

/** Why a call ended before its server did. */
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
