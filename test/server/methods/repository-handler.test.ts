import { expect } from 'chai'
import { Metadata as NiceMetadata } from 'nice-grpc'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import type { UpdateOptions } from '../../../lib/persistence/contract/repository.js'
import { ForeignClient, niceClient, type Outcome } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'

/** proto-loader reads a map of a descriptor set as its entries. */
const TAGS = [
  { key: 'a', value: '1' },
  { key: 'b', value: '2' },
]

const OTHER = { ...ALICE, 'account-id': 'other' }

/** A wrapper as people write them: it hands on copies, of what it knows. */
class Wrapped extends MemoryRepository<Widget> {
  knowsTouchOnly = true

  override update(
    key: string,
    entity: Partial<Widget>,
    mask: readonly string[] = [],
    { touchOnly = false, ...options }: UpdateOptions = {},
  ) {
    return super.update(key, entity, [...mask], this.knowsTouchOnly ? { ...options, touchOnly } : options)
  }
}

describe('a service served by a repository', () => {
  let running: RunningServer
  let client: ForeignClient
  const widgets = new Wrapped(Widget)

  before(async () => {
    running = await startServer((builder) =>
      builder.register(WidgetService, widgets, {
        retireWidget: async ({ id }) =>
          widgets.model.toMessage(await widgets.update(id, { size: 0 }, ['size'])),
      }),
    )
    client = new ForeignClient(WidgetService, running.grpc)
  })

  after(async () => {
    client.close()
    await running.stop()
  })

  const call = (method: string, request: object, headers: Record<string, string> = ALICE): Promise<Outcome> =>
    client.unary(method, request, headers)

  const made = async (id: string, fields: object = {}) => {
    const { answer, details } = await call('CreateWidget', {
      widget: { display_name: id, ...fields },
      widget_id: id,
    })
    expect(details).to.equal('OK')
    return answer as Record<string, string>
  }

  it('creates with the key of widget_id, and drops what only the server writes', async () => {
    const { answer } = await call('CreateWidget', {
      widget: { display_name: 'Cog', account_id: 'mallory', etag: 'mine', create_time: { seconds: 1 } },
      widget_id: 'cog',
    })
    expect(answer).to.deep.include({
      id: 'cog',
      display_name: 'Cog',
      account_id: 'acme',
      state: 'STATE_UNSPECIFIED',
    })
    expect(answer?.['etag']).to.be.a('string').and.not.equal('mine')
    expect((answer?.['create_time'] as { seconds: string }).seconds).not.to.equal('1')
  })

  it('gives a key where the caller named none', async () => {
    const { answer } = await call('CreateWidget', { widget: { display_name: 'Nameless' } })
    expect(answer?.['id']).to.match(/^[0-9a-f-]{36}$/)
  })

  it('refuses two keys that differ', async () => {
    const { code, details } = await call('CreateWidget', { widget: { id: 'a' }, widget_id: 'b' })
    expect([code, details]).to.deep.equal([3, 'widget_id: differs from the key inside the resource'])
  })

  const required: readonly (readonly [string, object, string])[] = [
    ['GetWidget', {}, 'id: is required'],
    ['DeleteWidget', {}, 'id: is required'],
    ['UndeleteWidget', {}, 'id: is required'],
    ['CreateWidget', {}, 'widget: is required'],
    ['UpdateWidget', { update_mask: ['size'] }, 'widget: is required'],
    ['UpdateWidget', { update_mask: ['size'], widget: {} }, 'widget.id: is required'],
    ['BatchUpdateWidgets', { requests: [{}] }, 'widget: is required'],
    ['BatchUpdateWidgets', { requests: [{ widget: {} }] }, 'widget.id: is required'],
  ]
  for (const [method, request, text] of required)
    it(`returns InvalidArgument "${text}" for ${method} ${JSON.stringify(request)}`, async () => {
      const { code, details } = await call(method, request)
      expect([code, details]).to.deep.equal([3, text])
    })

  it('sends the etag as a trailer and as an HTTP header', async () => {
    const { etag } = await made('tagged')
    const { trailers } = await call('GetWidget', { id: 'tagged' })
    expect(trailers.get('etag')).to.deep.equal([etag])
    const response = await fetch(`${running.http}/v1/widgets/tagged`, { headers: ALICE })
    expect(response.headers.get('etag')).to.equal(`"${etag}"`)
  })

  it('shows another tenant nothing', async () => {
    await made('mine')
    const probes: readonly (readonly [string, object])[] = [
      ['GetWidget', { id: 'mine' }],
      ['DeleteWidget', { id: 'mine' }],
      ['UndeleteWidget', { id: 'mine' }],
      ['UpdateWidget', { widget: { id: 'mine' }, update_mask: ['size'] }],
      ['BatchGetWidgets', { ids: ['mine'] }],
      ['BatchDeleteWidgets', { ids: ['mine'] }],
      ['BatchUpdateWidgets', { requests: [{ widget: { id: 'mine' } }] }],
    ]
    for (const [method, request] of probes) {
      const { code, details } = await call(method, request, OTHER)
      expect([method, code, details]).to.deep.equal([method, 5, 'Widget "mine" not found'])
    }
    expect((await call('ListWidgets', {}, OTHER)).answer?.['widgets']).to.deep.equal([])
    expect((await call('GetWidget', { id: 'mine' })).code).to.equal(0)
  })

  it('denies a caller without a tenant', async () => {
    const { code } = await call('ListWidgets', {}, { subject: 'alice' })
    expect(code).to.equal(7)
  })

  describe('update', () => {
    const update = (widget: object, mask: readonly string[], headers = {}) =>
      call('UpdateWidget', { widget, update_mask: mask }, { ...ALICE, ...headers })

    it('writes what the mask names and nothing else', async () => {
      await made('u1', { size: 3, price: 2.5 })
      const { answer } = await update({ id: 'u1', size: 4, price: 9 }, ['size'])
      expect(answer).to.include({ size: 4, price: 2.5, display_name: 'u1' })
    })

    it('writes everything with the mask *', async () => {
      await made('u2', { size: 3 })
      const { answer } = await update({ id: 'u2', price: 9 }, ['*'])
      expect(answer).to.include({ size: 0, price: 9, display_name: '' })
    })

    const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
      ['no mask', [], /^update_mask is required for update operations$/],
      ['an unknown field', ['colour'], /update_mask: there is no field "colour"/],
      ['the tenant', ['account_id'], /update_mask: account_id cannot be written/],
      ['camelCase', ['displayName'], /update_mask: there is no field "displayName"/],
      ['names joined by a comma', ['size,price'], /update_mask: there is no field "size,price"/],
    ]
    for (const [name, mask, text] of refused)
      it(`refuses ${name} over gRPC`, async () => {
        await call('CreateWidget', { widget: {}, widget_id: 'u3' })
        const { code, details } = await update({ id: 'u3' }, mask)
        expect(code).to.equal(3)
        expect(details).to.match(text)
      })

    it('names the field of an empty mask for machines', async () => {
      const { trailers } = await update({ id: 'u3' }, [])
      expect(Buffer.from(trailers.get('grpc-status-details-bin')[0] as Buffer).toString('latin1')).to.contain(
        'update_mask',
      )
    })

    it('changes nothing but etag and update_time when the gateway ignores the whole mask', async () => {
      const before = await made('u4', {
        size: 3,
        price: 2.5,
        state: 'ACTIVE',
        description: 'x',
        tags: [{ key: 'a', value: 'b' }],
      })
      const url = `${running.http}/v1/widgets/u4?update_mask=display_name,size`
      const response = await fetch(url, post(ALICE, { displayName: '', size: 0 }, 'PATCH'))
      expect(response.status).to.equal(200)
      const { answer: after } = await call('GetWidget', { id: 'u4' })
      const { etag, update_time: _one, ...rest } = before
      const { etag: fresh, update_time: _two, ...left } = after as Record<string, unknown>
      expect(left).to.deep.equal(rest)
      expect(fresh).not.to.equal(etag)
    })

    it('writes nothing of an ignored mask through a repository that does not know touchOnly', async () => {
      const before = await made('u5', { size: 3 })
      const url = `${running.http}/v1/widgets/u5?update_mask=display_name,size`
      widgets.knowsTouchOnly = false
      const response = await fetch(url, post(ALICE, { displayName: '', size: 0 }, 'PATCH'))
      widgets.knowsTouchOnly = true
      expect(response.status).to.equal(400)
      expect((await call('GetWidget', { id: 'u5' })).answer).to.deep.equal(before)
    })
  })

  describe('If-Match', () => {
    const rows: readonly (readonly [string, (etag: string) => string, number])[] = [
      ['the current etag, quoted', (etag) => `"${etag}"`, 0],
      ['the current etag, bare', (etag) => etag, 0],
      ['a list with the current one', (etag) => `"x", "${etag}"`, 0],
      ['*', () => '*', 0],
      ['a stale etag', () => '"stale"', 9],
      ['a list of stale ones', () => '"stale", "older"', 9],
      ['the current etag, but weak', (etag) => `W/"${etag}"`, 9],
      ['a lone quote', () => '"', 3],
      ['words', () => 'not an etag', 3],
    ]
    for (const [name, header, code] of rows)
      it(`returns ${code} for ${name}`, async () => {
        const { etag = '' } = await made(`m-${rows.findIndex(([row]) => row === name)}`)
        const id = `m-${rows.findIndex(([row]) => row === name)}`
        const outcome = await call(
          'UpdateWidget',
          { widget: { id, size: 1 }, update_mask: ['size'] },
          { ...ALICE, 'if-match': header(etag) },
        )
        expect(outcome.code, outcome.details).to.equal(code)
      })

    it('is taken from the resource on update, and from the request on delete and undelete', async () => {
      const { etag } = await made('m-in')
      const stale = [
        call('UpdateWidget', { widget: { id: 'm-in', etag: 'stale' }, update_mask: ['size'] }),
        call('DeleteWidget', { id: 'm-in', etag: 'stale' }),
      ]
      for (const outcome of await Promise.all(stale)) expect(outcome.code).to.equal(9)
      expect((await call('DeleteWidget', { id: 'm-in', etag })).code).to.equal(0)
      expect((await call('UndeleteWidget', { id: 'm-in', etag })).code).to.equal(9)
    })

    it('refuses a header and a request that differ', async () => {
      await made('m-two')
      const { code, details } = await call(
        'DeleteWidget',
        { id: 'm-two', etag: 'a' },
        { ...ALICE, 'if-match': '"b"' },
      )
      expect([code, details]).to.deep.equal([
        3,
        'etag: differs from If-Match: send one of them, or the same in both',
      ])
    })

    it('returns 412 over HTTP', async () => {
      await made('m-412')
      const init = post({ ...ALICE, 'if-match': '"stale"' }, { size: 1 }, 'PATCH')
      const response = await fetch(`${running.http}/v1/widgets/m-412?update_mask=size`, init)
      expect(response.status).to.equal(412)
    })
  })

  describe('read_mask', () => {
    it('returns only what it names, on a copy', async () => {
      await made('r1', { size: 7, tags: TAGS })
      const { answer } = await call('GetWidget', { id: 'r1', read_mask: { paths: ['size', 'tags.a'] } })
      expect(answer).to.include({ size: 7, display_name: '', account_id: '', etag: '' })
      expect(answer?.['tags']).to.deep.equal([{ key: 'a', value: '1' }])
      expect((await call('GetWidget', { id: 'r1' })).answer).to.include({ display_name: 'r1' })
    })

    it('keeps the etag in the trailer', async () => {
      const { etag } = await made('r2')
      const { trailers } = await call('GetWidget', { id: 'r2', read_mask: { paths: ['size'] } })
      expect(trailers.get('etag')).to.deep.equal([etag])
    })

    it('applies to the items of a list', async () => {
      const { answer } = await call('ListWidgets', { page_size: 1, read_mask: { paths: ['id'] } })
      const [item] = answer?.['widgets'] as Record<string, unknown>[]
      expect(item).to.include({ display_name: '' })
      expect(item?.['id']).not.to.equal('')
      expect(answer?.['next_page_token']).not.to.equal('')
    })

    it('returns everything for *', async () => {
      const { answer } = await call('GetWidget', { id: 'r1', read_mask: { paths: ['*'] } })
      expect(answer).to.include({ display_name: 'r1', size: 7 })
    })

    for (const path of ['colour', 'size.inner', 'displayName', '', '__proto__'])
      it(`refuses the path ${JSON.stringify(path)}`, async () => {
        const { code, details } = await call('GetWidget', { id: 'r1', read_mask: { paths: [path] } })
        expect([code, details]).to.deep.equal([3, `read_mask: "${path}" is not a field that can be read`])
      })
  })

  it('soft-deletes, shows on request, and restores', async () => {
    await made('gone')
    expect((await call('DeleteWidget', { id: 'gone' })).code).to.equal(0)
    expect((await call('GetWidget', { id: 'gone' })).code).to.equal(5)
    const list = async (show: boolean) => {
      const { answer } = await call('ListWidgets', { filter: 'display_name = "gone"', show_deleted: show })
      return (answer?.['widgets'] as unknown[]).length
    }
    expect([await list(false), await list(true)]).to.deep.equal([0, 1])
    expect((await call('UndeleteWidget', { id: 'gone' })).answer).to.include({ id: 'gone' })
    expect((await call('UndeleteWidget', { id: 'gone' })).code).to.equal(5)
  })

  it('fails a batch as a whole', async () => {
    await made('b1', { size: 1 })
    const requests = ['b1', 'b-none'].map((id) => ({ widget: { id, size: 9 }, update_mask: ['size'] }))
    expect((await call('BatchUpdateWidgets', { requests })).code).to.equal(5)
    expect((await call('BatchDeleteWidgets', { ids: ['b1', 'b-none'] })).code).to.equal(5)
    expect((await call('GetWidget', { id: 'b1' })).answer).to.include({ size: 1 })
  })

  it('returns batches in the order of the request', async () => {
    await made('o1')
    await made('o2')
    const { answer } = await call('BatchGetWidgets', { ids: ['o2', 'o1', 'o2'] })
    expect((answer?.['widgets'] as { id: string }[]).map(({ id }) => id)).to.deep.equal(['o2', 'o1', 'o2'])
  })

  const bad: readonly (readonly [string, string, object, string])[] = [
    ['an unknown filter field', 'ListWidgets', { filter: 'colour = "red"' }, 'filter'],
    ['an unknown order field', 'ListWidgets', { order_by: 'colour' }, 'order_by'],
    ['a page token that is none', 'ListWidgets', { page_token: 'zzz' }, 'page_token'],
    ['an unterminated string', 'ListWidgets', { filter: 'display_name = "x' }, 'filter'],
    [
      'a filter nested too deep',
      'ListWidgets',
      { filter: '('.repeat(1000) + 'size = 1' + ')'.repeat(1000) },
      'filter',
    ],
    ['a NUL in a string', 'CreateWidget', { widget: { display_name: 'a\0b' } }, 'display_name'],
  ]
  for (const [name, method, request, field] of bad)
    it(`returns InvalidArgument naming the field for ${name}`, async () => {
      const { code, details } = await call(method, request)
      expect(code, details).to.equal(3)
      expect(details).to.contain(field)
    })

  it('returns InvalidArgument for bytes that are not a message', async () => {
    const garbage = Buffer.from([0xff, 0xff, 0xff])
    const raw = new (await import('@grpc/grpc-js')).Client(
      running.grpc,
      (await import('@grpc/grpc-js')).credentials.createInsecure(),
    )
    const metadata = new (await import('@grpc/grpc-js')).Metadata()
    for (const [name, value] of Object.entries(ALICE)) metadata.set(name, value)
    const outcome = await new Promise<{ code: number; details: string }>((resolve) =>
      raw.makeUnaryRequest(
        '/widgets.v1.WidgetService/GetWidget',
        () => garbage,
        (bytes) => bytes,
        {},
        metadata,
        (error) => resolve(error as never),
      ),
    )
    raw.close()
    expect([outcome.code, outcome.details]).to.deep.equal([
      3,
      'the request is not a well-formed widgets.v1.GetWidgetRequest',
    ])
  })

  it('serves methods of an implementation beside the repository', async () => {
    await made('retired', { size: 5 })
    expect((await call('RetireWidget', { id: 'retired' })).answer).to.include({ id: 'retired', size: 0 })
    expect((await call('RetireWidget', { id: 'retired' }, OTHER)).code).to.equal(5)
  })

  it('lets an implementation take over a standard method', async () => {
    const overridden = await startServer((builder) =>
      builder.register(WidgetService, widgets, {
        getWidget: ({ id }) => ({ id, displayName: 'from the implementation' }),
        retireWidget: () => {
          throw new ErrNotFound()
        },
      }),
    )
    const { client: nice, close } = niceClient(WidgetService, overridden.grpc)
    const answer = await nice.getWidget({ id: '1' }, { metadata: NiceMetadata(ALICE) })
    expect(answer).to.deep.include({ id: '1', displayName: 'from the implementation' })
    close()
    await overridden.stop()
  })
})
