import { setTimeout as pause } from 'node:timers/promises'
import { anyPack } from '@bufbuild/protobuf/wkt'
import type { ServerCall } from '../../../lib/call.js'
import { AshlarError, type Code, CODES } from '../../../lib/errors.js'
import type { Implementation } from '../../../lib/server/chain/handler.js'
import { type CallRequest, CallRequestSchema, type CallService, HeaderSchema } from '../gen/calls_pb.js'

const codeOf = (number: number): Code =>
  (Object.keys(CODES) as Code[]).find((code) => CODES[code] === number) ?? 'UNKNOWN'

const announce = ({ headers, trailers }: CallRequest, call: ServerCall): void => {
  for (const { name, values } of headers) for (const value of values) call.headers.append(name, value)
  for (const { name, values } of trailers) for (const value of values) call.trailers.append(name, value)
}

const failIfAsked = ({ failure }: CallRequest): void => {
  if (failure === undefined) return
  const details = failure.details.map((message) => ({ desc: HeaderSchema, message }))
  throw new AshlarError(codeOf(failure.code), failure.message, { details })
}

const responseOf = (request: CallRequest, data: Uint8Array, { metadata, deadline }: ServerCall) => ({
  data,
  number: request.number,
  received: [...metadata.all].map(([name, values]) => ({ name, values: [...values] })),
  request: anyPack(CallRequestSchema, request),
  ...(deadline !== undefined && { timeLeftMs: BigInt(Math.round(deadline - Date.now())) }),
})

const respond = async (request: CallRequest, call: ServerCall) => {
  announce(request, call)
  if (request.delayMs > 0) await pause(request.delayMs, undefined, { signal: call.signal })
  failIfAsked(request)
  return responseOf(request, request.data[0] ?? new Uint8Array(), call)
}

/** A service that responds as its requests specify. */
export const callService = {
  call: respond,
  look: respond,
  async *follow(request: CallRequest, call: ServerCall) {
    announce(request, call)
    for (const data of request.data) {
      if (request.delayMs > 0) await pause(request.delayMs, undefined, { signal: call.signal })
      yield responseOf(request, data, call)
    }
    failIfAsked(request)
  },
  async gather(requests: AsyncIterable<CallRequest>) {
    let number = 0n
    for await (const each of requests) number += each.number
    return { number }
  },
} satisfies Implementation<typeof CallService>
