import { constants, type ServerHttp2Stream } from 'node:http2'
import { SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'

/**
 * Restores repeated headers that may occur only once. node:http2 drops the second `authorization` and joins
 * two values of `account-id`, which would hide the repetition. Several values become a list, which grpc-js
 * reads as several values.
 */
export const keepRepeated = (
  headers: NodeJS.Dict<string | string[]>,
  rawHeaders: readonly string[],
): void => {
  for (const name of SINGLE_HEADERS) {
    if (headers[name] === undefined) continue
    const values: string[] = []
    for (let at = rawHeaders.indexOf(name); at >= 0; at = rawHeaders.indexOf(name, at + 1))
      if (at % 2 === 0) values.push(rawHeaders[at + 1] ?? '')
    if (values.length > 1) headers[name] = values
  }
}

/** Closes a stream that was rejected by its headers, even if its client keeps sending. */
export const closeRefused = (stream: ServerHttp2Stream): void => {
  // nghttp2 does not send a response that is still queued when the stream is reset.
  if (stream.writableEnded && !stream.endAfterHeaders)
    setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
}
