import { strict as assert } from 'node:assert'
import { httpSide } from '../load/load-side.js'
import { serverOf } from '../load/server-module.js'
import type { Side } from '../subject.js'

const PAYLOAD = '01890000-0000-7000-8000-000000000000'

/** A GET that returns a part of its path, to measure HTTP alone. `?server=` selects the server. */
export function setUp(): Promise<Side> {
  const request = Buffer.from(`GET /v1/echo/${PAYLOAD} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  return httpSide(serverOf(import.meta.url), async (send) => {
    assert.deepEqual(JSON.parse((await send(request)).toString()), { payload: PAYLOAD })
    return {
      async echo() {
        if (!(await send(request)).includes(PAYLOAD)) throw new TypeError('no echo')
      },
    }
  })
}
