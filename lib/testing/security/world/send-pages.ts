import { clone, type DescMethod, type Message, ScalarType } from '@bufbuild/protobuf'
import { CODES } from '../../../errors.js'
import type { Local } from '../../../resource/messages/local-field.js'
import type { ListenerClient, Outcome } from '../wire/listener-clients.js'
import type { Caller, Probe } from './probe.js'

/** The outcomes of a call and of the calls for its next pages. */
export interface Pages {
  readonly outcomes: readonly Outcome[]
  /** True if there are further pages. */
  readonly isCut: boolean
}

/** Sends a request and follows `next_page_token`. */
export const sendPages = async (
  probe: Probe,
  listener: ListenerClient,
  desc: DescMethod,
  request: Message,
  caller: Caller,
  most: number,
): Promise<Pages> => {
  const outcomes: Outcome[] = []
  let next: Message | undefined = request
  while (next !== undefined) {
    if (outcomes.length >= most) return { outcomes, isCut: true }
    const outcome = await probe.send(listener, desc, next, caller)
    if (outcome === undefined) break
    outcomes.push(outcome)
    next = nextRequest(desc, next, outcome)
  }
  return { outcomes, isCut: false }
}

/** Returns the request for the next page; undefined if there is none. */
export const nextRequest = (
  desc: DescMethod,
  request: Message,
  { code, response }: Outcome,
): Message | undefined => {
  const asked = desc.input.fields.find(({ name }) => name === 'page_token')
  const reported = desc.output.fields.find(({ name }) => name === 'next_page_token')
  if (code !== CODES.OK || asked?.scalar !== ScalarType.STRING || reported === undefined) return undefined
  const token = (response as Local | undefined)?.[reported.localName]
  if (typeof token !== 'string' || token === '' || token === (request as Local)[asked.localName])
    return undefined
  const next = clone(desc.input, request)
  ;(next as Local)[asked.localName] = token
  return next
}
