import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { Unimplemented } from '../errors.js'
import type { Dispatcher, Incoming } from '../call.js'
import { Call, type OperationStarter } from './chain/call.js'
import { EntityReply, messageOfReply } from './chain/entity-reply.js'
import type { Next, Reply } from './chain/interceptor.js'
import type { Method } from './chain/method.js'

/** A method with its composed chain and handler. */
export interface Dispatched {
  readonly method: Method
  readonly run: Next<Call>
}

/** What both listeners call: finds the method once, and runs the call. */
export const dispatcher = (
  methods: ReadonlyMap<DescMethod, Dispatched>,
  runner: OperationStarter,
): Dispatcher => {
  const callOfOne = async (
    method: Method,
    incoming: Incoming,
    requests: AsyncIterable<Message> | undefined,
  ) => {
    try {
      return new Call(method, incoming, requests && (await onlyOne(requests)), undefined, runner)
    } catch (error) {
      const call = new Call(method, incoming, create(method.desc.input), undefined, runner)
      call.unreadable = error as Error
      return call
    }
  }
  return {
    readsRest: true,
    unary(incoming, request) {
      const { method, run } = methods.get(incoming.method) ?? notServed(incoming.method)
      const reply = run(new Call(method, incoming, request, undefined, runner))
      const takesEntities = incoming.writeBytes !== undefined || incoming.writeEntity !== undefined
      const settle = takesEntities ? asTaken : asMessage
      return reply instanceof Promise ? reply.then(settle) : settle(reply)
    },
    async *stream(incoming, requests) {
      const { method, run } = methods.get(incoming.method) ?? notServed(incoming.method)
      const call = method.clientStreams
        ? new Call(method, incoming, undefined, requests, runner)
        : await callOfOne(method, incoming, requests)
      const reply = await run(call)
      if (Symbol.asyncIterator in reply) yield* reply
      else yield messageOfReply(reply)
    },
  }
}

const notServed = ({ parent, name }: DescMethod): never => {
  throw new Unimplemented(`${parent.typeName}.${name} is not served here`)
}

/** For a listener that sends messages. */
const asMessage = (reply: Reply): Message | Promise<Message> =>
  Symbol.asyncIterator in reply ? onlyOne(reply) : messageOfReply(reply)

/** For a listener that has taken what is no message. */
const asTaken = (reply: Reply): Message | undefined | Promise<Message> => {
  if (reply instanceof EntityReply) return undefined
  return Symbol.asyncIterator in reply ? onlyOne(reply) : reply
}

const onlyOne = async (messages: AsyncIterable<Message>): Promise<Message> => {
  for await (const message of messages) return message
  throw new Unimplemented('the call carries no message')
}
