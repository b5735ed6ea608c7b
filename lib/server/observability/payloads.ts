import type { DescMessage, Message } from '@bufbuild/protobuf'
import { type Redaction, redactMessage } from '../../resource/redaction.js'
import type { Call } from '../chain/call.js'
import { messageOfReply } from '../chain/entity-reply.js'
import type { Next, ReplyOrPromise } from '../chain/interceptor.js'
import { withReply } from '../chain/reply.js'
import type { Logger } from './logger.js'

/**
 * Runs the call and logs its request and response at level debug, with the request id and without secrets.
 */
export const withPayloads = <C extends Call>(
  call: C,
  next: Next<C>,
  logger: Logger,
  redaction: Redaction,
): ReplyOrPromise => {
  const { input, output } = call.method.desc
  const write = (side: 'request' | 'response', type: DescMessage, message: Message): void =>
    logger.debug({ ...namesOf(call), [side]: shown(redaction, type, message) }, side)
  const { rest } = call
  if (rest !== undefined) {
    const read = async () => {
      const whole = await rest.read()
      write('request', input, whole.request)
      return whole
    }
    call.rest = { knows: (field) => rest.knows(field), read }
  } else if (call.request !== undefined && call.unreadable === undefined)
    write('request', input, call.request)
  return withReply(next(call), (reply) => {
    if (!(Symbol.asyncIterator in reply)) write('response', output, messageOfReply(reply))
    return reply
  })
}

const namesOf = ({ path, requestId, trace }: Call) => ({ method: path, requestId, ...trace })

/**
 * Returns the value to log. A handler may return any value, and one that cannot be logged must not fail the
 * call.
 */
const shown = (redaction: Redaction, desc: DescMessage, message: Message): unknown => {
  try {
    return redactMessage(redaction, desc, message)
  } catch {
    return `[no ${desc.typeName}]`
  }
}
