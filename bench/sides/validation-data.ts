import { create, type DescMessage, type Message } from '@bufbuild/protobuf'
import type { Call } from '../../lib/server/chain/call.js'
import type { Next } from '../../lib/server/chain/interceptor.js'
import { methodOf } from '../../lib/server/chain/method.js'
import { validation } from '../../lib/server/validation/validation.js'
import { TEXTS, thingsService } from './things.js'

/**
 * Returns a function that runs a call through validation, as the chain composes it. The method has the given
 * number of required fields.
 */
export const validated = (required: number): (() => void) => {
  const [desc] = thingsService(required).methods
  if (desc === undefined) throw new TypeError('there is no method')
  const next: Next<Call> = (call) => call.request as Message
  const run = validation(undefined)(next as never, { method: methodOf(desc), handler: {} as never })
  const input: DescMessage = desc.input
  const request = create(input, Object.fromEntries(TEXTS.map((name) => [name, 'a text'])))
  const call = { request, requests: undefined, ignoredMask: [] } as unknown as Call
  return () => {
    if (run(call as never) !== request) throw new TypeError('not passed on')
  }
}
