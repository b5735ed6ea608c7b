import { createClient as connectClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-web'
import { expect } from 'chai'
import { createChannel, createClient as niceClient, Metadata } from 'nice-grpc'
import { basename } from 'node:path'
import { type Widget, WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget as WidgetEntity } from '../../examples/widgets/widget.js'
import { type Client, connectTransport, createClient, grpcTransport } from '../../lib/client/index.js'
import { definitionOf } from '../../lib/index.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { compiled } from '../support/root.js'
import { type PageFolder, pageFolder } from '../support/sources/page-module.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'

type RetireAsRead = (widgets: Client<typeof WidgetService>, widget: Widget) => Promise<Widget>
type Handler = (widgets: object) => (request: { id: string }) => Promise<Widget>

/** "Etags" of docs/guides/clients.md, against the handler of docs/reference/handlers.md. */
describe('a client that sends If-Match', () => {
  const widgets = new (memoryRepositoryOf(WidgetEntity))()
  let pages: readonly PageFolder[] = []
  let running: RunningServer
  let retireAsRead: RetireAsRead

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    const [clients, server] = [pageFolder('docs/guides/clients.md'), pageFolder('docs/reference/handlers.md')]
    pages = [clients, server]
    retireAsRead = (await clients.load('retire-as-read.ts'))['retireAsRead'] as RetireAsRead
    const retireWidget = (await server.load('retire-widget.ts'))['retireWidget'] as Handler
    running = await startServer(
      (builder) => builder.register(WidgetService, widgets, { retireWidget: retireWidget(widgets) }),
      { gateway: { connect: true } },
    )
  })
  after(async () => {
    await running?.stop()
    for (const page of pages) page.remove()
  })

  const made = async (): Promise<Widget> => {
    const transport = grpcTransport(running.grpc)
    const widget = await createClient(WidgetService, { transport, metadata: ALICE }).createWidget({
      widget: { displayName: 'Anvil' },
    })
    transport.close()
    return widget
  }
  const codeOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'OK',
      (error: { code?: unknown }) => error.code,
    )

  for (const [name, open] of [
    ['gRPC', () => grpcTransport(running.grpc)],
    ['Connect', () => connectTransport(running.http)],
  ] as const)
    it(`does so with ashlar/client over ${name}, also by the etag of an update`, async () => {
      const widget = await made()
      const transport = open()
      const client = createClient(WidgetService, { transport, metadata: ALICE })
      await retireAsRead(client, widget)
      expect(await codeOf(retireAsRead(client, widget))).to.equal('FAILED_PRECONDITION')
      const old = { widget, updateMask: ['size'] }
      expect(await codeOf(client.updateWidget(old))).to.equal('FAILED_PRECONDITION')
      expect(await codeOf(client.deleteWidget({ id: widget.id, etag: widget.etag }))).to.equal(
        'FAILED_PRECONDITION',
      )
      transport.close()
    })

  it('does so with nice-grpc', async () => {
    const { id, etag } = await made()
    const channel = createChannel(running.grpc)
    const client = niceClient(definitionOf(WidgetService), channel)
    const retire = () => client.retireWidget({ id }, { metadata: Metadata({ ...ALICE, 'if-match': etag }) })
    expect([await codeOf(retire()), await codeOf(retire())]).to.deep.equal(['OK', 9])
    channel.close()
  })

  it('does so with Connect', async () => {
    const { id, etag } = await made()
    const transport = createConnectTransport({ baseUrl: running.http })
    const client = connectClient(WidgetService, transport)
    const retire = () => client.retireWidget({ id }, { headers: { ...ALICE, 'if-match': etag } })
    expect([await codeOf(retire()), await codeOf(retire())]).to.deep.equal(['OK', 9])
  })

  it('does so with fetch, with quotes or without', async () => {
    for (const quote of ['"', '']) {
      const { id, etag } = await made()
      const headers = { ...ALICE, 'if-match': `${quote}${etag}${quote}`, 'content-type': 'application/json' }
      const retire = async () =>
        (await fetch(`${running.http}/v1/widgets/${id}:retire`, { method: 'POST', headers, body: '{}' }))
          .status
      expect([await retire(), await retire()]).to.deep.equal([200, 412])
    }
  })
})
