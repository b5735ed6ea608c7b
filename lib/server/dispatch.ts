import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { Unimplemented } from '../errors.js'
import type { Dispatcher, Incoming } from '../call.js'
import { Call, type Next, type Reply } from './chain/interceptor.js'
import type { OperationRunner } from './operations/operation-runner.js'
import type { Registered } from './methods/registry.js'
import { isStream } from './chain/reply.js'
import type { Method } from './chain/method.js'

/** What both listeners call: finds the method and sends the call through the composed chain. */
export const dispatcher = (
  methodFor: (desc: DescMethod) => Registered | undefined,
  chain: Next<Call>,
  runner: OperationRunner,
): Dispatcher => {
  const find = (desc: DescMethod): Registered => {
    const registered = methodFor(desc)
    if (registered === undefined)
      throw new Unimplemented(`${desc.parent.typeName}.${desc.name} is not served here`)
    return registered
  }
  const callOfOne = async (method: Method, incoming: Incoming, requests: AsyncIterable<Message>) => {
    try {
      return new Call(method, incoming, await onlyOne(requests), undefined, runner)
    } catch (error) {
      const call = new Call(method, incoming, create(method.desc.input), undefined, runner)
      call.unreadable = error as Error
      return call
    }
  }
  return {
    readsRest: true,
    unary(incoming, request) {
      const answer = chain(new Call(find(incoming.method).method, incoming, request, undefined, runner))
      return answer instanceof Promise ? answer.then(single) : single(answer)
    },
    async *stream(incoming, requests) {
      const { method } = find(incoming.method)
      const call = method.clientStreams
        ? new Call(method, incoming, undefined, requests, runner)
        : await callOfOne(method, incoming, requests)
      const reply = await chain(call)
      if (isStream(reply)) yield* reply
      else yield reply
    },
  }
}

const single = (reply: Reply): Message | Promise<Message> => (isStream(reply) ? onlyOne(reply) : reply)

const onlyOne = async (messages: AsyncIterable<Message>): Promise<Message> => {
  for await (const message of messages) return message
  throw new Unimplemented('the call carries no message')
}
