import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { WidgetSchema, WidgetService } from '../../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../../examples/widgets/widget.js'
import type { Repository } from '../../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf } from '../../../../lib/persistence/repository-of.js'
import { resourceModel } from '../../../../lib/resource/resource-model.js'
import { updateOf } from '../../../../lib/server/methods/mask/named-properties.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../../../support/servers/server.js'

describe('the entity that an update gives to its repository', () => {
  let running: RunningServer
  let client: ForeignClient
  let seen: object[]

  before(async () => {
    const repository = new (memoryRepositoryOf(Widget))()
    const { update, batchUpdate } = repository as unknown as Record<string, (...given: unknown[]) => unknown>
    Object.assign(repository, {
      update: (...given: unknown[]) => {
        seen.push({ ...(given[1] as object) })
        return update?.apply(repository, given)
      },
      batchUpdate: (...given: unknown[]) => {
        seen.push(...(given[0] as { entity: object }[]).map(({ entity }) => ({ ...entity })))
        return batchUpdate?.apply(repository, given)
      },
    })
    running = await startServer((builder) =>
      builder.register(WidgetService, repository as Repository<Widget>, { retireWidget: () => ({}) }),
    )
    client = new ForeignClient(WidgetService, running.grpc)
    const created = await client.unary('CreateWidget', { widget: widget('Anvil', 1), widget_id: 'w' }, ALICE)
    expect(created.details).to.equal('OK')
  })
  after(async () => {
    client?.close()
    await running?.stop()
  })
  beforeEach(() => (seen = []))

  const widget = (display_name: string, size: number) => ({
    id: 'w',
    display_name,
    size,
    tags: [{ key: 'a', value: 'b' }],
  })

  it('has only the properties that the mask names, and the key', async () => {
    const update_mask = ['display_name']
    const one = await client.unary('UpdateWidget', { widget: widget('Bell', 2), update_mask }, ALICE)
    const requests = [{ widget: widget('Cog', 3), update_mask: ['size', 'tags'] }]
    const batch = await client.unary('BatchUpdateWidgets', { requests }, ALICE)
    expect([one.details, batch.details]).to.deep.equal(['OK', 'OK'])
    expect(seen).to.deep.equal([
      { id: 'w', displayName: 'Bell' },
      { id: 'w', size: 3, tags: { a: 'b' } },
    ])
    expect(one.answer).to.include({ display_name: 'Bell', size: 1 })
  })

  it('has all properties if the mask is empty or *', async () => {
    const request = { widget: widget('Dial', 4), update_mask: ['*'] }
    expect((await client.unary('UpdateWidget', request, ALICE)).details).to.equal('OK')
    // A server that normalizes masks takes an empty one.
    const message = create(WidgetSchema, { id: 'w', displayName: 'Dial', size: 4 })
    const { entity } = updateOf(resourceModel(Widget))(message, { paths: [], touchOnly: false })
    for (const one of [...seen, entity]) expect(one).to.include({ id: 'w', displayName: 'Dial', size: 4 })
    expect(seen).to.have.length(1)
  })

  it('has the whole property for a path that leads into it', () => {
    const message = create(WidgetSchema, { id: 'w', size: 1, tags: { a: 'b', c: 'd' } })
    const update = updateOf(resourceModel(Widget))(message, { paths: ['tags.a'], touchOnly: false })
    expect({ ...update.entity }).to.deep.equal({ id: 'w', tags: { a: 'b', c: 'd' } })
    expect(update.paths).to.deep.equal(['tags.a'])
  })
})
