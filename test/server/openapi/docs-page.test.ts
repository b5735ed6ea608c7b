import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { widgetServer } from '../../../examples/widgets/main.js'
import { apiKey } from '../../../lib/server/authn/api-key.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import { openBrowser } from '../../support/browser/chromium.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { echoService } from '../../support/grpc/echo.js'
import { recordingLogger, startServer } from '../../support/servers/server.js'

const ADDRESSES = { database: ':memory:', grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }

describe('the page at /docs in a browser', () => {
  const environment = process.env['NODE_ENV']
  let browser: Browser | undefined
  before(async function () {
    browser = await openBrowser()
    if (browser === undefined) this.skip()
  })
  after(() => browser?.close())
  afterEach(() => {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  })

  /** A page with what it asked for, and what it complained about. */
  const open = async (origin: string) => {
    const page = await (browser as Browser).newPage({ viewport: { width: 1200, height: 1600 } })
    const requests: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => void requests.push(`${request.method()} ${request.url()}`))
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
    page.on('pageerror', (error) => void complaints.push(error.message))
    await page.goto(`${origin}/docs`)
    await page.locator('.opblock').first().waitFor({ timeout: 60_000 })
    return { page, requests, complaints }
  }

  /** Fills in what the scheme of each name is given, and closes the dialog. */
  const authorize = async (page: Page, values: readonly string[]): Promise<void> => {
    await page.locator('.auth-wrapper button.authorize').first().click()
    const containers = page.locator('.modal-ux .auth-container')
    expect(await containers.count()).to.equal(values.length)
    for (const [index, value] of values.entries()) {
      await containers.nth(index).locator('input').first().fill(value)
      await containers.nth(index).locator('button.authorize').click()
    }
    await page.locator('.modal-ux button.close-modal').click()
  }

  /** Tries an operation as it is filled in, and returns the status and the body that the page shows. */
  const attempt = async (page: Page, operation: string): Promise<readonly [string, string]> => {
    const block = page.locator(`.opblock[id$="${operation}"]`)
    await block.locator('.opblock-summary-control').click()
    await block.locator('button.execute').click()
    const row = block.locator('.live-responses-table tbody tr').first()
    await row.waitFor()
    const status = await row.locator('.response-col_status').innerText()
    return [status.trim().split(/\s/)[0] ?? '', await row.locator('.response-col_description').innerText()]
  }

  const fromElsewhere = (origin: string, requests: readonly string[]): readonly string[] =>
    requests.filter((request) => !request.includes(` ${origin}/`) && !/ (?:data|blob):/.test(request))

  it('tries requests with the headers of development', async () => {
    process.env['NODE_ENV'] = 'development'
    const server = await widgetServer({ ...ADDRESSES, logger: recordingLogger() })
    const controller = new AbortController()
    const served = server.serve(controller.signal)
    await Promise.race([server.ready(), served])
    const origin = `http://${server.httpAddr()}`
    try {
      const { page, requests, complaints } = await open(origin)
      expect(await page.locator('.opblock').count()).to.equal(10)
      expect((await attempt(page, '.ListWidgets'))[0]).to.equal('403')
      complaints.length = 0 // the browser itself tells of the 403
      await authorize(page, ['acme', 'staff', 'ada'])
      const [status, text] = await attempt(page, '.CreateWidget')
      expect([status, text.includes('"displayName": "display name"')]).to.deep.equal(['200', true])
      const shot = join(
        process.env['SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'ashlar-docs-')),
        'development.png',
      )
      await page.screenshot({ path: shot, fullPage: true })
      expect(requests.some((one) => one.startsWith(`POST ${origin}/v1/widgets`))).to.equal(true)
      expect(fromElsewhere(origin, requests)).to.deep.equal([])
      expect(complaints).to.deep.equal([])
    } finally {
      controller.abort()
      await served
    }
  })

  it('tries requests with a token, and is kept from other origins by its policy', async () => {
    const authenticator = apiKey({
      verify: (token) =>
        Promise.resolve(token === 'good' ? { ok: true, record: 1 } : { ok: false, record: undefined }),
      principal: () => ({ subject: 'robot', tenant: 'acme' }),
    })
    const running = await startServer((builder) => builder.register(EchoService, echoService), {
      ...{ authenticator, principalFunc: verifiedPrincipal, gateway: { docs: true } },
    })
    try {
      const { page, requests, complaints } = await open(running.http)
      await authorize(page, ['good'])
      const [status, text] = await attempt(page, '.Echo')
      expect([status, text.includes('"text"')]).to.deep.equal(['200', true])
      const shot = join(
        process.env['SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'ashlar-docs-')),
        'bearer.png',
      )
      await page.screenshot({ path: shot, fullPage: true })
      expect(fromElsewhere(running.http, requests)).to.deep.equal([])
      expect(complaints).to.deep.equal([])
      const outside = "fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => String(error))"
      expect(await page.evaluate<string>(outside)).to.include('TypeError')
      expect(complaints.join()).to.include('Content Security Policy')
    } finally {
      await running.stop()
    }
  })
})
