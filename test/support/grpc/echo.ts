import { create } from '@bufbuild/protobuf'
import type { Implementation } from '../../../lib/server/chain/handler.js'
import type { ServerCall } from '../../../lib/call.js'
import { type EchoRequest, EchoResponseSchema, type EchoService } from '../gen/specimens_pb.js'

/** An implementation that returns each request, for all four kinds of method. */
export const echoService = {
  echo: (request: EchoRequest) => create(EchoResponseSchema, { text: request.text, request }),
  ping: () => ({ text: 'pong' }),
  count: async function* ({ upto }: { upto: number }) {
    for (let n = 1; n <= upto; n++) yield await Promise.resolve({ text: String(n) })
  },
  collect: async (requests: AsyncIterable<EchoRequest>) => {
    const texts: string[] = []
    for await (const { text } of requests) texts.push(text)
    return { text: texts.join(' ') }
  },
  chat: async function* (requests: AsyncIterable<EchoRequest>) {
    for await (const { text } of requests) yield { text: text.toUpperCase() }
  },
  download: (_request: EchoRequest, _call: ServerCall) => ({
    contentType: 'text/plain',
    data: Buffer.from('stone'),
  }),
} satisfies Implementation<typeof EchoService>
