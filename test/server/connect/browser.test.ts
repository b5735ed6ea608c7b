import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { widgetsDataSource } from '../../../examples/widgets/data-source.js'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { WidgetRepository } from '../../../examples/widgets/widget-repository.js'
import { apiKey } from '../../../lib/server/authn/api-key.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import { openBrowser } from '../../support/browser/chromium.js'
import { pageFor, startFrontEnd } from '../../support/connect/page.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { echoService } from '../../support/grpc/echo.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'

/** What a front end does, in its own words. */
const scriptFor = (api: string, transport: string): string => `
  import { createClient, ConnectError } from '@connectrpc/connect'
  import { ${transport} } from '@connectrpc/connect-web'
  import { WidgetService } from '/compiled/examples/widgets/gen/widgets_pb.js'
  import { EchoService } from '/compiled/test/support/gen/specimens_pb.js'

  const authorized = (next) => (request) => {
    request.header.set('Authorization', 'Bearer good')
    return next(request)
  }
  const transport = ${transport}({ baseUrl: '${api}', interceptors: [authorized] })
  const widgets = createClient(WidgetService, transport)
  const echo = createClient(EchoService, transport)
  const show = (id, text) => void (document.getElementById(id).textContent += text)

  try {
  for (const [index, displayName] of ['Anvil', 'Bellows', 'Chisel'].entries())
    await widgets.createWidget(
      { widget: { displayName, size: index + 1 } },
      { onHeader: (header) => show('error', header.get('x-request-id') ? '' : 'no request id; ') },
    )
  for (const { displayName, size, etag } of (await widgets.listWidgets({ orderBy: 'display_name' })).widgets)
    document.getElementById('rows').insertRow().innerHTML = \`<td>\${displayName}<td>\${size}<td>\${etag.length > 0}\`
  for await (const { text } of echo.count({ upto: 5 })) show('stream', text + ' ')
  await widgets.getWidget({ id: 'nobody' })
  } catch (error) {
    show('error', ConnectError.from(error).message)
  } finally {
    show('state', 'done')
  }
`

describe('Connect in a browser', () => {
  let browser: Browser | undefined
  let running: RunningServer
  let frontEnd: { readonly origin: string; readonly server: Server }

  before(async function () {
    browser = await openBrowser()
    if (browser === undefined) return this.skip()
    const dataSource = await widgetsDataSource(':memory:').initialize()
    const pages = new Map<string, string>()
    frontEnd = await startFrontEnd(pages)
    const widgets = new WidgetRepository(dataSource)
    running = await startServer(
      (builder) =>
        builder.register(EchoService, echoService).register(WidgetService, widgets, {
          retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
        }),
      {
        gateway: { connect: true, cors: { origins: [frontEnd.origin] } },
        principalFunc: verifiedPrincipal,
        authenticator: apiKey({
          verify: (token) =>
            Promise.resolve(
              token.startsWith('good') ? { ok: true, record: token } : { ok: false, record: undefined },
            ),
          principal: (token: string) => ({ subject: 'front-end', tenant: token }),
        }),
      },
    )
    const connect = scriptFor(running.http, 'createConnectTransport')
    pages.set('/connect', pageFor(connect))
    const web = scriptFor(running.http, 'createGrpcWebTransport')
    pages.set('/grpc-web', pageFor(web.replace('Bearer good', 'Bearer good-2')))
    pages.set('/stranger', pageFor(connect.replace('Bearer good', 'Bearer bad')))
  })
  after(async () => {
    await browser?.close()
    if (browser === undefined) return
    frontEnd.server.close()
    await running.stop()
  })

  /** Opens a page of the front end, whose origin is another than that of the API. */
  const open = async (path: string) => {
    const page = await (browser as Browser).newPage({ viewport: { width: 700, height: 420 } })
    const complaints: string[] = []
    page.on('pageerror', (error) => void complaints.push(error.message))
    await page.goto(`${frontEnd.origin}${path}`)
    await page.locator('#state').waitFor({ timeout: 60_000 })
    const folder = process.env['SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'ashlar-connect-'))
    await page.screenshot({ path: join(folder, `connect${path.replace('/', '-')}.png`) })
    const textOf = (selector: string) => page.locator(selector).innerText()
    return {
      rows: await textOf('#rows'),
      stream: await textOf('#stream'),
      error: await textOf('#error'),
      complaints,
    }
  }

  for (const path of ['/connect', '/grpc-web'])
    it(`creates, lists, follows a stream and reads an error: ${path}`, async () => {
      const { rows, stream, error, complaints } = await open(path)
      expect(complaints).to.deep.equal([])
      expect(rows.split(/\s+/)).to.deep.equal('Anvil 1 true Bellows 2 true Chisel 3 true'.split(' '))
      expect(stream).to.equal('1 2 3 4 5')
      expect(error).to.match(/^\[not_found\] Widget "[^"]+" not found$/)
    })

  it('tells a page with a bad token that it is bad', async () => {
    const { rows, error } = await open('/stranger')
    expect([rows, error]).to.deep.equal(['', '[unauthenticated] invalid API key'])
  })
})
