import { create, type Message } from '@bufbuild/protobuf'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RestOfRequest } from '../../call.js'
import { Body, checkLength, hasBody } from '../../gateway/http/body.js'
import { awaitsContinue, sendContinue } from '../../gateway/http/continue.js'
import { PREFIX_BYTES } from './envelope.js'
import { checkCoding, messageOf, type RequestForm } from './request-bytes.js'

/** A request on its way in. */
export interface Arriving {
  /** Empty where the request is unreadable, or not read yet. */
  readonly message: Message
  /** Reads the body of a large request, after authorization. */
  readonly rest?: RestOfRequest
  readonly unreadable?: Error
  /** Reads and discards what nobody has asked for. */
  readonly drop?: () => void
}

const NOTHING = Buffer.alloc(0)

/** Reads a body: all of a small one, the beginning of any other. */
export const arriving = async (
  form: RequestForm,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Arriving> => {
  const message = create(form.input)
  const limit = form.limit + (form.format.isEnveloped ? PREFIX_BYTES : 0)
  const body = new Body(request, limit)
  try {
    checkCoding(form.coding)
    checkCoding(request.headers['content-encoding'], ['deflate'])
    if (awaitsContinue(request)) checkLength(request, limit)
    const early = hasBody(request) ? await beginningOf(body, request) : NOTHING
    if (early !== undefined) return { message: await messageOf(form, early) }
  } catch (error) {
    return { message, unreadable: error as Error }
  }
  const read = async () => {
    sendContinue(request, response)
    const whole = await messageOf(form, await body.whole())
    return { request: Object.assign(message, whole), ignoredMask: [] }
  }
  return { message, rest: { knows: () => false, read }, drop: () => body.drop() }
}

const beginningOf = (body: Body, request: IncomingMessage): Promise<Buffer | undefined> | undefined =>
  awaitsContinue(request) ? undefined : body.beginning()
