import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { RequestContext } from '../../../lib/context.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { altered } from '../../support/grpc/altered.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

const service = altered(WidgetService, (proto) =>
  proto.addField('ListWidgetsResponse', 'total_size', Type.INT32),
)

class Counted extends MemoryRepository<Widget> {
  counts = 0

  override count(...operands: Parameters<MemoryRepository<Widget>['count']>) {
    this.counts++
    return super.count(...operands)
  }
}

describe('total_size of a list', () => {
  let running: RunningServer
  let client: ForeignClient
  const widgets = new Counted(Widget)

  before(async () => {
    running = await startServer((builder) =>
      builder
        .limits({ maxTotalSize: 4 })
        .register(service, widgets, { retireWidget: () => Promise.reject(new Error('not called')) } as never),
    )
    client = new ForeignClient(service, running.grpc)
    for (const [tenant, size] of [
      ['acme', 1],
      ['acme', 2],
      ['acme', 2],
      ['acme', 2],
      ['acme', 2],
      ['acme', 2],
      ['other', 2],
    ] as const)
      await RequestContext.as({ tenant, subject: 'ada' }, () => widgets.create({ size, displayName: 'Cog' }))
  })

  after(async () => {
    client.close()
    await running.stop()
  })

  const list = async (request: object) => {
    const { answer, details } = await client.unary('ListWidgets', request, ALICE)
    expect(details).to.equal('OK')
    return answer as { readonly total_size: number; readonly next_page_token: string }
  }

  it('is that of all pages, and of the filter', async () => {
    expect((await list({ page_size: 1, filter: 'size = 1' })).total_size).to.equal(1)
    const first = await list({ page_size: 2, filter: 'size < 3 AND NOT size = 2' })
    expect(first.total_size).to.equal(1)
    expect((await list({ filter: 'size = 9' })).total_size).to.equal(0)
  })

  it('counts up to the limit of the server', async () => {
    const first = await list({ page_size: 2 })
    expect(first.total_size).to.equal(4)
    expect((await list({ page_size: 2, page_token: first.next_page_token })).total_size).to.equal(4)
    expect((await list({})).total_size).to.equal(4)
  })

  it('asks for nothing where the first page is the last one', async () => {
    widgets.counts = 0
    await list({})
    expect(widgets.counts).to.equal(0)
    await list({ page_size: 1 })
    expect(widgets.counts).to.equal(1)
  })

  it('asks for nothing where the response has no such field', async () => {
    const plain = await startServer((builder) =>
      builder.register(WidgetService, widgets, { retireWidget: () => ({}) } as never),
    )
    const plainClient = new ForeignClient(WidgetService, plain.grpc)
    widgets.counts = 0
    const { details } = await plainClient.unary('ListWidgets', { page_size: 1 }, ALICE)
    expect([details, widgets.counts]).to.deep.equal(['OK', 0])
    plainClient.close()
    await plain.stop()
  })

  it('stops the start where it would tell of what an overridden list leaves out', async () => {
    class Filtered extends MemoryRepository<Widget> {
      override list() {
        return Promise.resolve({ items: [], nextPageToken: '' })
      }
    }
    const starting = startServer((builder) =>
      builder.register(service, new Filtered(Widget), { retireWidget: () => ({}) } as never),
    )
    await rejection(starting, Error, /Filtered overrides list and not count/)
    const lacking = Object.assign(new Filtered(Widget), { count: undefined })
    const other = startServer((builder) =>
      builder.register(service, lacking as never, { retireWidget: () => ({}) } as never),
    )
    await rejection(other, Error, /has no count\(\)/)
  })
})
