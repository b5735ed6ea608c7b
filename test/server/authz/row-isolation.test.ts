import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import fc from 'fast-check'
import { Widget_State, WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { type Filter, filter } from '../../../lib/persistence/query/filter-template.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import { altered } from '../../support/grpc/altered.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'

const RUNS = drill(25, 1000)
const [OK, NOT_FOUND, DENIED] = [0, 5, 7]

const service = altered(WidgetService, (proto) =>
  proto.addField('ListWidgetsResponse', 'total_size', Type.INT32),
)

interface Row {
  readonly id: string
  readonly displayName: string
  readonly description: string
  readonly size: number
  readonly color: string
  readonly isDeleted: boolean
}

/** A predicate of an authorizer, and the rows that it is true for. */
type Predicate = readonly [Filter, (row: Row) => boolean]

const PREDICATES: readonly Predicate[] = [
  [filter`display_name = ${'ann'}`, ({ displayName }) => displayName === 'ann'],
  [
    filter`display_name = ${'ann'} OR size = ${0}`,
    ({ displayName, size }) => displayName === 'ann' || size === 0,
  ],
  [filter`size > ${1}`, ({ size }) => size > 1],
  [filter`NOT display_name = ${'bob'}`, ({ displayName }) => displayName !== 'bob'],
  [filter`tags.color = ${'red'}`, ({ color }) => color === 'red'],
  [filter`id = ${'nothing'}`, () => false],
]

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']
const NAMES = ['ann', 'bob', 'all']
const FILTERS = [
  ...['', 'display_name = "bob"', 'NOT display_name = "ann"', 'size >= 1', 'size = 0 OR size = 3'],
  ...['id = "a" OR id = "b"', 'tags.color = "red"', 'has(tags.color)', 'description != "x"', 'id != "z"'],
]
const ORDERS = ['', 'id desc', 'size, id', 'display_name desc, id', 'description']

type Call = readonly [method: string, request: Readonly<Record<string, unknown>>, headers?: object]

const anId = fc.constantFrom(...IDS, 'missing')
const rows: fc.Arbitrary<readonly Row[]> = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(...IDS),
    displayName: fc.constantFrom(...NAMES),
    description: fc.constantFrom('x', 'y', 'long '.repeat(30)),
    size: fc.integer({ min: 0, max: 3 }),
    color: fc.constantFrom('red', 'blue'),
    isDeleted: fc.boolean(),
  }),
  { minLength: 4, selector: ({ id }) => id },
)
const changed = fc.record({
  id: anId,
  display_name: fc.constantFrom(...NAMES),
  size: fc.integer({ min: 0, max: 3 }),
  etag: fc.constantFrom('', '', '', 'other'),
})
const update = fc.record({
  widget: changed,
  update_mask: fc.record({ paths: fc.subarray(['display_name', 'size'], { minLength: 1 }) }),
})
const someIds = fc.uniqueArray(anId, { minLength: 1, maxLength: 3 })
const request: fc.Arbitrary<Call> = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(fc.constant('GetWidget'), fc.record({ id: anId })) },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constant('ListWidgets'),
      fc.record({
        filter: fc.constantFrom(...FILTERS),
        order_by: fc.constantFrom(...ORDERS),
        page_size: fc.integer({ min: 1, max: 3 }),
        show_deleted: fc.boolean(),
      }),
    ),
  },
  fc.tuple(fc.constant('BatchGetWidgets'), fc.record({ ids: someIds })),
  fc.tuple(fc.constant('UpdateWidget'), update),
  fc.tuple(
    fc.constant('UpdateWidget'),
    update,
    fc.constantFrom({ 'if-match': '*' }, { 'if-match': '"one", "two"' }),
  ),
  fc.tuple(fc.constant('DeleteWidget'), fc.record({ id: anId, etag: fc.constantFrom('', '', 'other') })),
  fc.tuple(fc.constant('UndeleteWidget'), fc.record({ id: anId })),
  fc.tuple(
    fc.constant('BatchUpdateWidgets'),
    fc.record({
      requests: fc.uniqueArray(update, { minLength: 1, maxLength: 3, selector: (one) => one.widget.id }),
    }),
  ),
  fc.tuple(fc.constant('BatchDeleteWidgets'), fc.record({ ids: someIds })),
)

/** What differs between two tenants, whatever is in them. */
const OWN = [
  'etag',
  'account_id',
  'create_time',
  'update_time',
  'delete_time',
  'accountId',
  'createTime',
  'updateTime',
  'deleteTime',
]

const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (key, one: unknown) => {
      if (OWN.includes(key)) return undefined
      if (key === 'next_page_token' || key === 'nextPageToken') return one !== ''
      return typeof one === 'bigint' ? String(one) : one
    }),
  )

/**
 * Two tenants have the same rows, but those that a decision by row excludes are in one of them alone. Nothing
 * that a call gets may differ between the two.
 */
describeOn('rows that a row filter excludes', backends, (backend) => {
  let opened: OpenBackend
  let widgets: Repository<Widget>
  let running: RunningServer
  let client: ForeignClient
  let reading: Filter = PREDICATES[0]![0]
  let writing: Filter = PREDICATES[0]![0]
  let runs = 0
  const seen = new Map<number, number>()

  before(async () => {
    opened = await backend.open([Widget])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) widgets = new MemoryRepository(Widget)
    else {
      await createTables(collated(dataSource, backend), [Widget], database.dialect.name)
      widgets = new TypeormRepository(dataSource, Widget)
    }
    running = await startServer(
      (builder) =>
        builder.register(service, widgets, {
          retireWidget: () => Promise.reject(new Error('not called')),
        } as never),
      {
        authorizer: {
          decidesByRow: true,
          authorize: ({ verb }) => ({ where: verb === 'get' || verb === 'list' ? reading : writing }),
        },
      },
    )
    client = new ForeignClient(service, running.grpc)
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await opened?.close()
  })

  const inTenant = <T>(tenant: string, fn: () => Promise<T>) =>
    RequestContext.as({ tenant, subject: 'test' }, fn)
  const fill = (tenant: string, given: readonly Row[]) =>
    inTenant(tenant, async () => {
      for (const { isDeleted, color, ...row } of given) {
        await widgets.create({ ...row, price: 1, state: Widget_State.ACTIVE, tags: { color } })
        if (isDeleted) await widgets.delete(row.id)
      }
    })
  const stored = async (tenant: string) =>
    (await inTenant(tenant, () => widgets.list({ showDeleted: true, pageSize: 1000 }))).items

  const headersOf = (tenant: string) => ({ 'account-id': tenant, subject: 'ann' })
  const ask = async (tenant: string, [method, message, more]: Call): Promise<unknown[]> => {
    const answers: unknown[] = []
    let token = ''
    do {
      const asked = method === 'ListWidgets' ? { ...message, page_token: token } : message
      const { code, details, answer, headers } = await client.unary(method, asked, {
        ...headersOf(tenant),
        ...more,
      })
      seen.set(code, (seen.get(code) ?? 0) + 1)
      answers.push([code, details, headers.get('x-denied-because'), comparable(answer)])
      token = (answer?.['next_page_token'] as string | undefined) ?? ''
    } while (token !== '')
    return answers
  }
  /** The same read over HTTP; undefined for a call that is made over gRPC alone. */
  const overHttp = async (tenant: string, [method, message]: Call): Promise<unknown> => {
    if (method !== 'ListWidgets' && method !== 'GetWidget') return undefined
    const { id, ...query } = message as Readonly<Record<string, string>>
    const path = id === undefined ? `?${new URLSearchParams(query).toString()}` : `/${id}`
    const response = await fetch(`${running.http}/v1/widgets${path}`, { headers: headersOf(tenant) })
    return [response.status, response.headers.get('x-denied-because'), comparable(await response.json())]
  }

  it(`appear in no response, error, count or page, in ${RUNS} runs`, async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.constantFrom(...PREDICATES),
        fc.constantFrom(...PREDICATES),
        fc.array(request, { minLength: 4, maxLength: 8 }),
        async (all, [mayRead, isVisible], [mayWrite], calls) => {
          const [whole, visible] = [`whole-${++runs}`, `visible-${runs}`]
          await fill(whole, all)
          await fill(visible, all.filter(isVisible))
          const hidden = new Set(all.filter((row) => !isVisible(row)).map(({ id }) => id))
          const excluded = async () => (await stored(whole)).filter(({ id }) => hidden.has(id))
          const before = await excluded()
          reading = mayRead
          writing = mayWrite
          for (const call of calls) {
            expect(await ask(whole, call), JSON.stringify(call)).to.deep.equal(await ask(visible, call))
            expect(await overHttp(whole, call), JSON.stringify(call)).to.deep.equal(
              await overHttp(visible, call),
            )
          }
          expect(await excluded()).to.deep.equal(before)
        },
      ),
      // The same few runs each time, in which every code occurs; the many of the drill are new each time.
      { numRuns: RUNS, ...(RUNS < 100 ? { seed: 7 } : {}) },
    )
    // The calls of these runs were worth making.
    for (const code of [OK, NOT_FOUND, DENIED])
      expect(seen.get(code) ?? 0, `calls with ${code}`).to.be.at.least(drill(1, 100))
  })
})
