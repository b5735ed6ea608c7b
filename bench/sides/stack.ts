import { strict as assert } from 'node:assert'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  CreateWidgetRequestSchema,
  GetWidgetRequestSchema,
  ListWidgetsRequestSchema,
  ListWidgetsResponseSchema,
  Widget_State,
  WidgetSchema,
  WidgetService,
} from '../../examples/widgets/gen/widgets_pb.js'
import { grpcSide, type Send } from '../load/load-side.js'
import { serverOf } from '../load/server-module.js'
import { field, grpcFrame, grpcHeaders, lastField } from '../load/wire.js'
import type { Side } from '../subject.js'
import { STAFF } from './callers.js'
import { assertPage, assertWidget, LIST } from './known-widgets.js'
import { fill, keyOf, randomRow, tenantOf } from './postgres-data.js'
import { removeTenant } from './remove-tenant.js'

/** The number of requests that are encoded before the measurement, so that the load only writes bytes. */
const READS = 2000
/** More rows than concurrent calls, so that no update waits for a row. */
const OWN_ROWS = 200
const ETAG = 12

const path = (method: string) => `/${WidgetService.typeName}/${method}`
const as = (tenant: string) => ({ ...STAFF, 'account-id': tenant })

/** The four standard methods over gRPC and PostgreSQL. `?server=` selects the server. */
export async function setUp(): Promise<Side> {
  await fill()
  const server = serverOf(import.meta.url)
  const mine = `bench-${process.pid}`
  return grpcSide(
    server,
    async (send) => {
      await checkAnswers(send)
      return {
        get: reads(send),
        list: lists(send),
        create: creates(send, mine),
        update: await updates(send, mine),
      }
    },
    () => removeTenant(mine),
  )
}

const getBody = (id: string) =>
  grpcFrame(toBinary(GetWidgetRequestSchema, create(GetWidgetRequestSchema, { id })))
const listBody = grpcFrame(toBinary(ListWidgetsRequestSchema, create(ListWidgetsRequestSchema, LIST)))

async function checkAnswers(send: Send): Promise<void> {
  for (const n of [101, 4242, 999_999]) {
    const answer = await send(grpcHeaders(path('GetWidget'), as(tenantOf(n))), getBody(keyOf(n)))
    assertWidget(fromBinary(WidgetSchema, answer), n)
  }
  for (const tenant of [1, 42]) {
    const answer = await send(grpcHeaders(path('ListWidgets'), as(tenantOf(tenant))), listBody)
    assertPage(fromBinary(ListWidgetsResponseSchema, answer), tenant)
  }
}

function reads(send: Send) {
  const requests = Array.from({ length: READS }, () => {
    const { tenant, key } = randomRow()
    return { headers: grpcHeaders(path('GetWidget'), as(tenant)), body: getBody(key), key }
  })
  let turn = 0
  return async () => {
    const { headers, body, key } = requests[turn++ % READS] as (typeof requests)[number]
    if ((await send(headers, body)).toString('latin1', 2, 2 + key.length) !== key) throw new TypeError(key)
  }
}

function lists(send: Send) {
  const headers = Array.from({ length: 100 }, (_, n) => grpcHeaders(path('ListWidgets'), as(tenantOf(n))))
  let turn = 0
  return async () => {
    if ((await send(headers[turn++ % 100] as Buffer, listBody)).length < 5000) throw new TypeError('list')
  }
}

const created = create(WidgetSchema, {
  displayName: 'new widget',
  description: 'A new red widget made of steel, for testing the full stack',
  size: 7,
  price: 9.5,
  state: Widget_State.ACTIVE,
  tags: { env: 'prod', team: 't1' },
})
const createBody = grpcFrame(
  toBinary(CreateWidgetRequestSchema, create(CreateWidgetRequestSchema, { widget: created })),
)

function creates(send: Send, mine: string) {
  const headers = grpcHeaders(path('CreateWidget'), as(mine))
  return async () => {
    if (lastField(await send(headers, createBody), ETAG) === undefined) throw new TypeError('create')
  }
}

/** Runs updates. Each names a field and sends the etag that the previous update returned. */
async function updates(send: Send, mine: string) {
  const own: { readonly id: string; etag: Buffer }[] = []
  const createHeaders = grpcHeaders(path('CreateWidget'), as(mine))
  for (let i = 0; i < OWN_ROWS; i++) {
    const widget = fromBinary(WidgetSchema, await send(createHeaders, createBody))
    assert.equal(widget.accountId, mine)
    assert.deepEqual({ ...widget.tags }, { env: 'prod', team: 't1' })
    own.push({ id: widget.id, etag: Buffer.from(widget.etag) })
  }
  const headers = grpcHeaders(path('UpdateWidget'), as(mine))
  const mask = field(2, 'display_name')
  const renamed = field(3, 'renamed')
  const bodyOf = ({ id, etag }: { readonly id: string; readonly etag: Buffer }) =>
    grpcFrame(Buffer.concat([field(1, Buffer.concat([field(1, id), renamed, field(ETAG, etag)])), mask]))
  const update = async () => {
    const row = own.pop()
    if (row === undefined) throw new TypeError('no row is free')
    const answer = await send(headers, bodyOf(row))
    const etag = lastField(answer, ETAG)
    if (etag === undefined || etag.equals(row.etag)) throw new TypeError('update')
    own.push({ id: row.id, etag: Buffer.from(etag) })
    return answer
  }
  const stale = { ...(own[0] as (typeof own)[number]), etag: Buffer.from('stale') }
  await assert.rejects(send(headers, bodyOf(stale)), 'a stale etag must be refused')
  const { displayName, description, size } = fromBinary(WidgetSchema, await update())
  const { description: same, size: seven } = created
  assert.deepEqual(
    { displayName, description, size },
    { displayName: 'renamed', description: same, size: seven },
  )
  return async () => void (await update())
}
