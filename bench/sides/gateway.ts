import { strict as assert } from 'node:assert'
import { create, toJson } from '@bufbuild/protobuf'
import { ListWidgetsResponseSchema, WidgetSchema } from '../../examples/widgets/gen/widgets_pb.js'
import { httpSide } from '../load/load-side.js'
import { serverOf } from '../load/server-module.js'
import type { Side } from '../subject.js'
import { STAFF } from './callers.js'
import { LIST, pageOf, widgetOf } from './known-widgets.js'
import { fill, keyOf, randomRow, tenantOf } from './postgres-data.js'

const READS = 2000

/** Reads one widget and a page of 50 over HTTP/JSON and PostgreSQL. `?server=` selects the server. */
export async function setUp(): Promise<Side> {
  await fill()
  return httpSide(serverOf(import.meta.url), async (send) => {
    await checkAnswers(send)
    const gets = Array.from({ length: READS }, () => {
      const { tenant, key } = randomRow()
      return { request: get(`/v1/widgets/${key}`, tenant), key }
    })
    const lists = Array.from({ length: 100 }, (_, n) => get(LIST_PATH, tenantOf(n)))
    let turn = 0
    return {
      async get() {
        const { request, key } = gets[turn++ % READS] as (typeof gets)[number]
        if (!(await send(request)).toString('latin1', 0, 40).includes(key)) throw new TypeError(key)
      },
      async list() {
        if ((await send(lists[turn++ % 100] as Buffer)).length < 10_000) throw new TypeError('list')
      },
    }
  })
}

const LIST_PATH = `/v1/widgets?page_size=${LIST.pageSize}&order_by=${LIST.orderBy}&filter=${encodeURIComponent(LIST.filter)}`

const get = (path: string, tenant: string): Buffer => {
  const headers = { host: 'localhost', ...STAFF, 'account-id': tenant }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

/** Checks that the responses of every side are proto3 JSON of the same rows. */
async function checkAnswers(send: (request: Buffer) => Promise<Buffer>): Promise<void> {
  for (const n of [101, 4242, 999_999]) {
    const body = (await send(get(`/v1/widgets/${keyOf(n)}`, tenantOf(n)))).toString()
    assert.deepEqual(JSON.parse(body), whole(widgetOf(n)))
  }
  for (const tenant of [1, 42]) {
    const body = (await send(get(LIST_PATH, tenantOf(tenant)))).toString()
    const { widgets, nextPageToken, ...rest } = JSON.parse(body) as Record<string, unknown>
    assert.deepEqual(rest, {})
    assert.ok(typeof nextPageToken === 'string' && nextPageToken !== '')
    const expected = create(ListWidgetsResponseSchema, { widgets: pageOf(tenant) })
    assert.deepEqual(widgets, expected.widgets.map(whole))
  }
}

const whole = (widget: ReturnType<typeof widgetOf>): unknown =>
  toJson(WidgetSchema, widget, { alwaysEmitImplicit: true })
