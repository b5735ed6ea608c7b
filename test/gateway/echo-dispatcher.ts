import { NO_LIMITS } from '../../lib/resource/messages/message-limits.js'
import { setTimeout as pause } from 'node:timers/promises'
import { create, type DescMethod, isMessage, type Message } from '@bufbuild/protobuf'
import { HttpBodySchema } from 'ashlar-annotations/google/api/httpbody_pb.js'
import type { Dispatcher, Incoming } from '../../lib/call.js'
import {
  CountRequestSchema,
  EchoRequestSchema,
  EchoResponseSchema,
  EchoService,
  UpdateNoteRequestSchema,
  UpdateSpecimenRequestSchema,
} from '../support/gen/specimens_pb.js'

/** What a handler of the double is told. */
export interface Heard {
  readonly incoming: Incoming
  readonly request: Message
}

/**
 * Stands in for the chain: answers EchoService with what it was sent, keeps what it heard, and fails when
 * told to. Other methods answer their first message field, or an empty message.
 */
export class EchoDispatcher implements Dispatcher {
  readonly limits = NO_LIMITS
  readonly heard: Heard[] = []
  /** Runs before every answer; what it throws is the answer. */
  before: (heard: Heard) => void | Promise<void> = () => {}
  /** Answers instead of the double. */
  answer: ((heard: Heard) => Message) | undefined

  get last(): Heard {
    const last = this.heard.at(-1)
    if (last === undefined) throw new TypeError('no call was made')
    return last
  }

  async unary(incoming: Incoming, begun: Message): Promise<void> {
    const request = await wholeOf(incoming, begun)
    const heard = this.#hear(incoming, request)
    await this.before(heard)
    const answer = this.answer === undefined ? answerOf(incoming.method, request) : this.answer(heard)
    incoming.encode(answer, this.limits.maxResponseBytes)
  }

  async *stream(incoming: Incoming, requests: AsyncIterable<Message>): AsyncIterable<Message> {
    for await (const begun of requests) {
      const request = await wholeOf(incoming, begun)
      const heard = this.#hear(incoming, request)
      await this.before(heard)
      if (!isMessage(request, CountRequestSchema)) continue
      for (let n = 1; n <= request.upto; n++) {
        if (request.pauseMs > 0) await pause(request.pauseMs, undefined, { signal: incoming.caller.signal })
        await this.afterEach?.(n)
        yield create(EchoResponseSchema, { text: String(n) })
      }
    }
  }

  /** Runs before the nth message of a stream; what it throws ends the stream. */
  afterEach: ((n: number) => void | Promise<void>) | undefined

  #hear(incoming: Incoming, request: Message): Heard {
    const heard = { incoming, request }
    this.heard.push(heard)
    incoming.headers.set('x-request-id', incoming.metadata.get('x-request-id') ?? 'minted')
    return heard
  }
}

/** The request with its body. @throws what is wrong with it. */
async function wholeOf({ unreadable, rest }: Incoming, begun: Message): Promise<Message> {
  if (unreadable !== undefined) throw unreadable
  return rest === undefined ? begun : (await rest.read()).request
}

function answerOf(method: DescMethod, request: Message): Message {
  if (isMessage(request, EchoRequestSchema)) {
    if (method === EchoService.method.download)
      return create(HttpBodySchema, { contentType: 'text/plain', data: Buffer.from(request.text) })
    return create(EchoResponseSchema, { text: request.text, request })
  }
  if (isMessage(request, UpdateSpecimenRequestSchema)) return request.specimen ?? create(method.output)
  if (isMessage(request, UpdateNoteRequestSchema)) return request.note ?? create(method.output)
  return create(method.output)
}
