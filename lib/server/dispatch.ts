import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { Unimplemented } from '../errors.js'
import type { Dispatcher, Incoming } from '../call.js'
import { Call, type OperationStarter } from './chain/call.js'
import { Deadline } from './chain/deadline.js'
import { messageOfReply } from './chain/entity-reply.js'
import type { Next } from './chain/interceptor.js'
import type { Method } from './chain/method.js'
import { onlyOne } from './chain/reply.js'

/** A method with its composed chain and handler. */
export interface Dispatched {
  readonly method: Method
  readonly timeoutMs: number
  readonly run: Next<Call>
}

/**
 * What both listeners call: finds the method once, and runs the call.
 * @param openCalls - the times of the calls that run.
 */
export const dispatcher = (
  methods: ReadonlyMap<DescMethod, Dispatched>,
  runner: OperationStarter,
  openCalls: Deadline[],
): Dispatcher => {
  const callOfOne = async (
    { method, timeoutMs }: Dispatched,
    incoming: Incoming,
    requests: AsyncIterable<Message> | undefined,
  ) => {
    const time = Deadline.of(incoming, method, timeoutMs, openCalls)
    try {
      return new Call(method, incoming, requests && (await onlyOne(requests)), undefined, time, runner)
    } catch (error) {
      const empty = create(method.desc.input)
      return new Call(method, incoming, empty, undefined, time, runner, error as Error)
    }
  }
  return {
    unary(incoming, request) {
      const { method, timeoutMs, run } = methods.get(incoming.method) ?? notServed(incoming.method)
      const time = Deadline.of(incoming, method, timeoutMs, openCalls)
      const reply = run(new Call(method, incoming, request, undefined, time, runner))
      return reply instanceof Promise ? reply : undefined
    },
    async *stream(incoming, requests) {
      const dispatched = methods.get(incoming.method) ?? notServed(incoming.method)
      const { method, timeoutMs, run } = dispatched
      const call = method.clientStreams
        ? new Call(
            method,
            incoming,
            undefined,
            requests,
            Deadline.of(incoming, method, timeoutMs, openCalls),
            runner,
          )
        : await callOfOne(dispatched, incoming, requests)
      const reply = await run(call)
      if (Symbol.asyncIterator in reply) yield* reply
      else yield messageOfReply(reply)
    },
  }
}

const notServed = ({ parent, name }: DescMethod): never => {
  throw new Unimplemented(`${parent.typeName}.${name} is not served here`)
}
