import { expect } from 'chai'
import { basename } from 'node:path'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import type { Widget as WidgetMessage } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { testServer, type TestServer } from '../../lib/testing/index.js'
import { compiled } from '../support/root.js'
import { type PageFolder, pageFolder } from '../support/sources/page-module.js'

interface Page {
  readonly retireWidget: (widgets: object) => (request: { id: string }) => Promise<WidgetMessage>
}

describe('retire-widget.ts of docs/reference/server.md', () => {
  let page: PageFolder
  let server: TestServer

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/reference/server.md')
    const { retireWidget } = (await page.load('retire-widget.ts')) as unknown as Page
    const widgets = new (memoryRepositoryOf(Widget))()
    server = await testServer((builder) =>
      builder.register(WidgetService, widgets, { retireWidget: retireWidget(widgets) }),
    )
  })
  after(async () => {
    await server?.stop()
    page?.remove()
  })

  it('compares If-Match, which may be missing', async () => {
    const ada = server.as({ tenant: 'acme', subject: 'ada' })
    const { id, etag } = await ada.client(WidgetService).createWidget({ widget: { displayName: 'Anvil' } })
    const retire = async (ifMatch?: string) => {
      const headers = {
        'content-type': 'application/json',
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      }
      const response = await ada.fetch(`/v1/widgets/${id}:retire`, { method: 'POST', headers, body: '{}' })
      return response.status
    }
    expect(await retire('"another"')).to.equal(412)
    expect(await retire(`"another", "${etag.replaceAll('"', '')}"`)).to.equal(200)
    expect(await retire(`"${etag.replaceAll('"', '')}"`)).to.equal(412)
    expect(await retire('*')).to.equal(200)
    expect(await retire()).to.equal(200)
  })
})
