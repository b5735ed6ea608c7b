import { strict as assert } from 'node:assert'
import { grpcSide } from '../load/load-side.js'
import { field, grpcFrame, grpcHeaders, lastField } from '../load/wire.js'
import { serverOf } from '../load/server-module.js'
import type { Side } from '../subject.js'
import { STAFF } from './callers.js'
import { ECHO_BYTES, ECHO_PATH } from './echo.js'

/** An echo of 300 bytes. `?server=` selects the server. */
export function setUp(): Promise<Side> {
  const payload = 'Ashlar dresses stone. '.repeat(20).slice(0, ECHO_BYTES)
  const body = grpcFrame(field(1, payload))
  const headers = grpcHeaders(ECHO_PATH, { ...STAFF, 'account-id': 'acme' })
  return grpcSide(serverOf(import.meta.url), async (send) => {
    assert.equal(lastField(await send(headers, body), 1)?.toString(), payload)
    return {
      async echo() {
        if ((await send(headers, body)).length !== body.length - 5) throw new TypeError('no echo')
      },
    }
  })
}
