import { constants, type ServerHttp2Stream } from 'node:http2'

const { NGHTTP2_NO_ERROR, NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL, NGHTTP2_STREAM_STATE_OPEN } = constants

/** The time between two looks, while the end of a response is still to be sent. */
const AGAIN_MS = 10

/**
 * Closes a stream whose response has been sent whole before its request has arrived whole, by RST_STREAM with
 * NO_ERROR (RFC 9113 section 8.1). A client may take such a stream for ended and open others in its place;
 * left open, it would count towards the limit of the connection.
 */
export const closeUnreceived = (stream: ServerHttp2Stream): void => {
  if (stream.endAfterHeaders) return
  const look = (): void => {
    if (stream.destroyed || stream.closed) return
    const { state } = stream.state
    // Behind a reset, nghttp2 sends nothing that is not sent yet.
    if (state === NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL) stream.close(NGHTTP2_NO_ERROR)
    else if (state === NGHTTP2_STREAM_STATE_OPEN) setTimeout(look, AGAIN_MS).unref()
  }
  stream.once('finish', () => setImmediate(look))
}
