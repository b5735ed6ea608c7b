import { NO_LIMITS } from '../../lib/resource/messages/message-limits.js'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Gateway } from '../../lib/gateway/gateway.js'
import type { Dispatcher, Incoming } from '../../lib/call.js'
import { listening } from './listening-widgets.js'

/** The same gateway in front of the same server, connected over gRPC instead of within the process. */
const client = new Client(`127.0.0.1:${listening.grpc}`, credentials.createInsecure())

const metadataOf = ({ metadata }: Incoming): Metadata => {
  const sent = new Metadata()
  for (const [name, value] of metadata.entries()) sent.add(name, value)
  return sent
}

const unary = async (incoming: Incoming, begun: Message): Promise<void> => {
  const { method, rest } = incoming
  const request = rest === undefined ? begun : (await rest.read()).request
  const answered = await new Promise<Message>((resolve, reject) => {
    const path = `/${method.parent.typeName}/${method.name}`
    const call = client.makeUnaryRequest(
      path,
      (message: Message) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      request,
      metadataOf(incoming),
      (error, answer) => (answer === undefined ? reject(error ?? new TypeError(path)) : resolve(answer)),
    )
    call.on('metadata', (headers: Metadata) => copy(headers, incoming.headers))
    call.on('status', ({ metadata }) => copy(metadata, incoming.trailers))
  })
  incoming.encode(answered, Infinity)
}

const copy = (from: Metadata, to: Incoming['headers']): void => {
  for (const [name, value] of Object.entries(from.getMap())) to.set(name, String(value))
}

const dispatcher: Dispatcher = {
  limits: NO_LIMITS,
  unary,
  stream: () => {
    throw new TypeError('nothing streams here')
  },
}
const gateway = new Gateway({
  dispatcher,
  methods: (): readonly DescMethod[] => WidgetService.methods,
  readiness: () => Promise.resolve([]),
  updateMask: 'spec',
  maxBodyBytes: 2 ** 20,
  forwardHeaders: [],
  responseHeaders: [],
  compress: true,
  cors: undefined,
  onIgnoredMask: undefined,
})
gateway.prepare()
// The keep-alive time of Ashlar's own listener, because other sides take turns in between.
const server = createServer({ keepAliveTimeout: 65_000 }, gateway.listener).listen(0, '127.0.0.1', () => {
  process.send?.({ ports: { http: (server.address() as AddressInfo).port } })
})
