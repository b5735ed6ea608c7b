import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { create, equals, toJson } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import {
  type ListWidgetsResponse,
  ListWidgetsResponseSchema,
  type Widget,
  Widget_State,
  WidgetSchema,
} from '../../examples/widgets/gen/widgets_pb.js'
import { keyOf, tenantOf } from './postgres-data.js'

const { ACTIVE, DRAFT, RETIRED } = Widget_State

/** Returns the n-th row of the filled table, with which the responses of all sides are compared. */
export const widgetOf = (n: number): Widget =>
  create(WidgetSchema, {
    id: keyOf(n),
    accountId: tenantOf(n),
    displayName: `widget ${n}`,
    description: `A new red widget made of steel, number ${n} of a long series`,
    size: (n * 7919) % 1000,
    price: ((n * 31) % 100_000) / 100,
    state: [ACTIVE, DRAFT, RETIRED, ACTIVE, ACTIVE][Math.floor(n / 100) % 5] ?? ACTIVE,
    tags: { env: ['prod', 'dev', 'test'][n % 3] ?? '', team: `t${n % 17}` },
    createTime: timestampFromMs(Date.UTC(2024, 0, 1) + n * 1000),
    updateTime: timestampFromMs(Date.UTC(2024, 0, 1) + n * 1000),
    etag: createHash('md5').update(`e${n}`).digest('hex'),
  })

/** The page of 50 that every side must return. */
export const LIST = {
  filter: 'state = ACTIVE AND size >= 100',
  orderBy: 'create_time',
  pageSize: 50,
} as const

/** Returns the rows of that page for a tenant. */
export function pageOf(tenant: number): Widget[] {
  const page: Widget[] = []
  for (let n = tenant === 0 ? 100 : tenant; page.length < LIST.pageSize; n += 100) {
    const widget = widgetOf(n)
    if (Math.floor(n / 100) % 20 !== 7 && widget.state === ACTIVE && widget.size >= 100) page.push(widget)
  }
  return page
}

export function assertWidget(answer: Widget, n: number): void {
  assert.ok(equals(WidgetSchema, answer, widgetOf(n)), `${JSON.stringify(toJson(WidgetSchema, answer))}`)
}

export function assertPage(answer: ListWidgetsResponse, tenant: number): void {
  assert.notEqual(answer.nextPageToken, '')
  const expected = create(ListWidgetsResponseSchema, {
    widgets: pageOf(tenant),
    nextPageToken: answer.nextPageToken,
  })
  assert.deepEqual(toJson(ListWidgetsResponseSchema, answer), toJson(ListWidgetsResponseSchema, expected))
}
