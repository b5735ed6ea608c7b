import { create, type DescMethod } from '@bufbuild/protobuf'
import type { MessageLimits } from '../resource/messages/message-limits.js'
import { Unimplemented } from '../errors.js'
import type { Dispatcher } from '../call.js'
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
 * Returns the function through which both listeners run calls.
 * @param openCalls - the deadlines of all running calls.
 */
export const dispatcher = (
  methods: ReadonlyMap<DescMethod, Dispatched>,
  runner: OperationStarter,
  openCalls: Deadline[],
  limits: MessageLimits,
): Dispatcher => {
  return {
    limits,
    unary(incoming, request) {
      const { method, timeoutMs, run } = methods.get(incoming.method) ?? notServed(incoming.method)
      const time = Deadline.of(incoming, method, timeoutMs, openCalls)
      incoming.held?.unauthenticated.deciding(incoming.held)
      try {
        const reply = run(new Call(method, incoming, request, undefined, time, runner))
        return reply instanceof Promise ? reply : undefined
      } catch (error) {
        // The deadline interceptor clears the deadline of each call. An outer interceptor may fail before it
        // runs.
        time.clear()
        throw error
      }
    },
    async *stream(incoming, requests) {
      const { method, timeoutMs, run } = methods.get(incoming.method) ?? notServed(incoming.method)
      const time = Deadline.of(incoming, method, timeoutMs, openCalls)
      incoming.held?.unauthenticated.deciding(incoming.held)
      const callOfOne = async () => {
        try {
          return new Call(method, incoming, requests && (await onlyOne(requests)), undefined, time, runner)
        } catch (error) {
          const empty = create(method.desc.input)
          return new Call(method, incoming, empty, undefined, time, runner, error as Error)
        }
      }
      try {
        const reply = await run(
          method.clientStreams
            ? new Call(method, incoming, undefined, requests, time, runner)
            : await callOfOne(),
        )
        if (Symbol.asyncIterator in reply) yield* reply
        else yield messageOfReply(reply)
      } finally {
        time.clear()
      }
    },
  }
}

const notServed = ({ parent, name }: DescMethod): never => {
  throw new Unimplemented(`${parent.typeName}.${name} is not served here`)
}
