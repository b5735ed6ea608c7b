import { constants, type ServerHttp2Stream } from 'node:http2'
import { SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'

/**
 * Keeps repeated headers that may occur only once: node:http2 drops the second `authorization` and joins two
 * of `account-id`, so that later code could not tell. Several values of a name become a list, which grpc-js
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

/** Closes a stream that was refused by its headers, also when its client sends on. */
export const closeRefused = (stream: ServerHttp2Stream): void => {
  // nghttp2 sends no response that is not sent yet behind a reset.
  if (stream.writableEnded && !stream.endAfterHeaders)
    setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
}
