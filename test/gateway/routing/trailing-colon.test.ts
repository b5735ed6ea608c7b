import { expect } from 'chai'
import { widgetsDataSource } from '../../../examples/widgets/data-source.js'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { WidgetRepository } from '../../../examples/widgets/widget-repository.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'

describe('a colon at the end of a path', () => {
  let running: RunningServer
  before(async () => {
    const widgets = new WidgetRepository(await widgetsDataSource(':memory:').initialize())
    running = await startServer((builder) =>
      builder.register(WidgetService, widgets, {
        retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
      }),
    )
    for (const id of ['x', 'y:'])
      await fetch(`${running.http}/v1/widgets?widget_id=${id}`, post(ALICE, { id, displayName: id }))
  })
  after(() => running.stop())

  const ask = async (method: string, path: string): Promise<number> =>
    (await fetch(running.http + path, { method, headers: ALICE })).status

  it('belongs to the id, so that another resource is neither read nor deleted', async () => {
    expect(await ask('GET', '/v1/widgets/x')).to.equal(200)
    for (const path of ['/v1/widgets/x:', '/v1/widgets/x::', '/v1/widgets/x%3A'])
      expect([await ask('GET', path), await ask('DELETE', path)], path).to.deep.equal([404, 404])
    expect(await ask('GET', '/v1/widgets/x')).to.equal(200)
  })

  it('finds the resource whose id ends in one', async () => {
    expect(await ask('GET', '/v1/widgets/y:')).to.equal(200)
    expect(await ask('GET', '/v1/widgets/y%3A')).to.equal(200)
    expect(await ask('GET', '/v1/widgets/y')).to.equal(404)
  })

  it('makes another path of a collection', async () => {
    expect(await ask('GET', '/v1/widgets')).to.equal(200)
    expect(await ask('GET', '/v1/widgets:')).to.equal(404)
  })
})
