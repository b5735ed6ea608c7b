import assert from 'node:assert/strict'
import { grpcSide } from '../load/load-side.js'
import { field, grpcFrame, grpcHeaders } from '../load/wire.js'
import { serverOf } from '../load/server-module.js'
import type { Side } from '../subject.js'
import { STAFF } from './callers.js'
import { CHECK_PATH, TEXTS } from './things.js'

/** Sends a message of ten strings over gRPC that is returned. `?server=` selects the server. */
export function setUp(): Promise<Side> {
  const message = Buffer.concat(TEXTS.map((name, index) => field(index + 1, `the ${name} of a thing`)))
  const body = grpcFrame(message)
  const headers = grpcHeaders(CHECK_PATH, { ...STAFF, 'account-id': 'acme' })
  return grpcSide(serverOf(import.meta.url), async (send) => {
    assert.deepEqual(await send(headers, body), message)
    return {
      async call() {
        if ((await send(headers, body)).length !== message.length) throw new TypeError('not the message')
      },
    }
  })
}
