import { constants, type ServerHttp2Stream } from 'node:http2'

const { NGHTTP2_NO_ERROR, NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL, NGHTTP2_STREAM_STATE_OPEN } = constants

/** The interval between two checks while the end of a response has not been sent. */
const AGAIN_MS = 10

/**
 * Closes a stream whose response was sent completely before its request has arrived completely, with
 * RST_STREAM and NO_ERROR (RFC 9113 section 8.1). A client may consider such a stream closed and open others.
 * An open stream would still count towards the connection's limit.
 */
export const closeUnreceived = (stream: ServerHttp2Stream): void => {
  if (stream.endAfterHeaders) return
  const look = (): void => {
    if (stream.destroyed || stream.closed) return
    const { state } = stream.state
    // nghttp2 does not send data that is still queued when the stream is reset.
    if (state === NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL) stream.close(NGHTTP2_NO_ERROR)
    else if (state === NGHTTP2_STREAM_STATE_OPEN) setTimeout(look, AGAIN_MS).unref()
  }
  stream.once('finish', () => setImmediate(look))
}
