import { create, type Message } from '@bufbuild/protobuf'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeldRequest } from '../../bounds/unauthenticated-bytes.js'
import type { Caller, RestOfRequest } from '../../call.js'
import { Body } from '../../gateway/http/body.js'
import { sendContinue } from '../../gateway/http/continue.js'
import { PREFIX_BYTES } from '../grpc/envelope.js'
import { checkCoding, isToInflate, messageOf, type RequestForm } from './request-bytes.js'

/** A request that is being received. */
export interface Arriving {
  /** Empty if the request is unreadable or has not been read yet. */
  readonly message: Message
  /** Reads the body of a large request, after authorization. */
  readonly rest?: RestOfRequest
  readonly unreadable?: Error
  /** The bytes in memory, released at the end of the call; omitted if there are none. */
  readonly held?: HeldRequest & { drop(): void }
}

/**
 * Reads a request body: a small one completely, and the beginning of a larger one. Envelopes are not
 * decompressed yet.
 */
export const arriving = async (
  form: RequestForm,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
): Promise<Arriving> => {
  const message = create(form.method.input)
  const limit = form.limit + (form.format.isEnveloped ? PREFIX_BYTES : 0)
  const body = new Body(request, limit, caller, form.unauthenticated)
  try {
    checkCoding(form.coding)
    const early = await body.beginning().catch((error: unknown) => {
      checkCoding(request.headers['content-encoding'], ['deflate'])
      throw error
    })
    if (early === undefined) checkCoding(request.headers['content-encoding'], ['deflate'])
    else if (!isToInflate(form, early)) return { message: await messageOf(form, early), held: body }
  } catch (error) {
    return { message, unreadable: error as Error, held: body }
  }
  const read = async () => {
    sendContinue(request, response)
    const whole = await body.whole()
    return { request: await messageOf(form, whole, (bytes) => body.holdMore(bytes)), ignoredMask: [] }
  }
  return { message, rest: { knows: () => false, read }, held: body }
}
