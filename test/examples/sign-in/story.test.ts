import { startEdge, startProvider, type RunningEdge, type RunningProvider } from 'ashlar-idp'
import { expect } from 'chai'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowser } from '../../support/browser/chromium.js'
import { freePort } from '../../support/free-port.js'
import { hasBuf, type LinkedProject, linkedProject } from '../../support/projects/linked-project.js'
import { type StartedProject, startedProject } from '../../support/projects/started-project.js'
import { compiled, root } from '../../support/root.js'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
/** `SCREENSHOTS=1` writes the pictures of the guide again. */
const PICTURES = process.env['SCREENSHOTS'] === '1' ? join(root, 'docs/guides/pictures') : undefined

describe('signing in, in a browser', () => {
  let browser: Browser
  let project: LinkedProject
  let provider: RunningProvider
  let edge: RunningEdge
  let service: StartedProject
  let context: BrowserContext
  let page: Page
  let app = ''
  /** What a policy forbade, such as a style. */
  const refused: string[] = []

  before(async function () {
    if (!hasBuf || basename(compiled) !== 'dist') this.skip()
    const opened = await openBrowser()
    if (opened === undefined) return this.skip()
    browser = opened
    project = await linkedProject('shop', ['--database', 'sqlite', '--no-nest', '--auth', 'dev-login'])
    expect(project.build()).to.deep.equal([])
    provider = await startProvider({
      port: 0,
      host: 'idp.localhost',
      clients: join(project.folder, 'idp-clients.yaml'),
      users: join(project.folder, 'idp-users.yaml'),
      state: join(project.folder, '.ashlar-idp'),
    })
    const home = join(dirname(project.folder), 'edge')
    mkdirSync(home)
    edge = await startEdge({
      port: 0,
      home: { folder: home, socketPath: join(home, 'devedged.sock'), host: '127.0.0.1', port: 0 },
    })
    const port = await freePort()
    app = `http://localhost:${port}`
    const env = { ...project.env, OIDC_ISSUER: provider.issuer, PUBLIC_URL: app }
    service = await startedProject({ ...project, env }, { HTTP_ADDR: `:${port}` })
    const local = join(project.folder, 'idp-clients.local.yaml')
    writeFileSync(local, readFileSync(local, 'utf8').replaceAll('http://localhost:3000', app) + OTHER_TILES)
    context = await browser.newContext({ ignoreHTTPSErrors: true, reducedMotion: 'reduce' })
    page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error') refused.push(message.text())
    })
  })
  after(async () => {
    await service?.stop()
    await edge?.close()
    await provider?.close()
    await browser?.close()
    if (project !== undefined) rmSync(dirname(project.folder), { recursive: true, force: true })
  })

  it('by keyboard: the app sends to the chooser, and back with the rows of the tenant', async () => {
    await page.goto(`${app}/app`)
    await focus('link', 'Sign in')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor()
    await examine('chooser')
    await focus('button', /^Alice Archer/)
    await page.keyboard.press('Enter')
    await page.getByText('You are Alice Archer.').waitFor()
    expect(new URL(page.url()).origin).to.equal(app)
    await focus('textbox', 'Name of a new project')
    await page.keyboard.type('Apollo & <Sons>')
    await page.keyboard.press('Enter')
    await page.getByRole('listitem').filter({ hasText: 'Apollo & <Sons>' }).waitFor()
    await examine('app')
  })

  it('on the launchpad the same session opens the app without a question', async () => {
    await page.goto(provider.issuer)
    await page.getByText('Signed in as Alice Archer').waitFor()
    await examine('launchpad')
    expect(await page.getByRole('link', { name: /^Nowhere/ }).count()).to.equal(0)
    await page.getByRole('link', { name: /^shop/ }).click()
    await page.getByText('You are Alice Archer.').waitFor()
  })

  it("another tenant's user sees none of it, and a colleague does", async () => {
    for (const [name, sees] of [
      ['Carol Cook', false],
      ['Bob Baker', true],
    ] as const) {
      await page.goto(provider.issuer)
      await page.getByRole('link', { name: 'Switch user' }).click()
      await page.getByRole('button', { name: new RegExp(`^${name}`) }).click()
      await page.getByText(`Signed in as ${name}`).waitFor()
      await page.getByRole('link', { name: /^shop/ }).click()
      await page.getByText(`You are ${name}.`).waitFor()
      expect(await page.getByText('Apollo').count()).to.equal(sees ? 1 : 0)
    }
  })

  it('signing out of the app asks, and ends the session of the launchpad', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Do you want to sign out?' }).waitFor()
    await examine(undefined)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are not signed in.').waitFor()
    await page.goto(provider.issuer)
    await page.getByText('Nobody is signed in.').waitFor()
    await examine(undefined)
  })

  const route = (host: string, upstream: string) =>
    edge.registry.register({
      ...{ host, upstream, path: '', stripPrefix: false, protocol: '', backendTls: false },
      ...{ project: '', tile: undefined, owner: '', ttl: 0n },
    })

  it('the edge serves the app over https, and leads from the host of the launchpad to its one session', async () => {
    route('shop.localhost', app)
    await page.goto(`https://shop.localhost:${edge.port}/app`)
    await page.getByText('You are not signed in.').waitFor()
    expect(new URL(page.url()).origin).to.equal(app)
    route('idp.localhost', provider.issuer)
    await page.goto(`https://idp.localhost:${edge.port}/`)
    await page.getByText('Nobody is signed in.').waitFor()
    expect(new URL(page.url()).origin).to.equal(provider.issuer)
  })

  it('with its address at the edge, the app signs in and out there', async () => {
    const there = `https://shop.localhost:${edge.port}`
    const local = join(project.folder, 'idp-clients.local.yaml')
    const own = `    - ${app}/callback\n`
    writeFileSync(
      local,
      readFileSync(local, 'utf8').replace(own, `${own}    - https://shop.localhost/callback\n`),
    )
    const env = { ...project.env, OIDC_ISSUER: provider.issuer, PUBLIC_URL: there }
    const atEdge = await startedProject({ ...project, env }, { HTTP_ADDR: `:${await freePort()}` })
    route('shop.localhost', atEdge.url.replace('0.0.0.0', '127.0.0.1'))
    await page.goto(`${there}/app`)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /^Alice Archer/ }).click()
    await page.getByText('You are Alice Archer.').waitFor()
    await page.getByLabel('Name of a new project').fill('Behind the edge')
    await page.keyboard.press('Enter')
    await page.getByRole('listitem').filter({ hasText: 'Behind the edge' }).waitFor()
    expect(page.url()).to.equal(`${there}/app`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Do you want to sign out?' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are not signed in.').waitFor()
    expect(page.url()).to.equal(`${there}/app`)
    await atEdge.stop()
  })

  it('with its issuer at the edge, the launchpad is served there, and signs in and out', async () => {
    const issuer = `https://idp.localhost:${edge.port}`
    const there = await startProvider({
      ...{ port: 0, issuer, host: 'idp.localhost' },
      clients: join(project.folder, 'idp-clients.yaml'),
      users: join(project.folder, 'idp-users.yaml'),
      state: join(dirname(project.folder), 'at-the-edge'),
    })
    route('idp.localhost', `http://127.0.0.1:${there.port}`)
    await page.goto(issuer)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /^Alice Archer/ }).click()
    await page.getByText('Signed in as Alice Archer').waitFor()
    expect(page.url()).to.equal(`${issuer}/`)
    await examine(undefined)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Nobody is signed in.').waitFor()
    await there.close()
  })

  it('devices: a code that a person types', async () => {
    await page.goto(`${provider.issuer}/device`)
    await page.getByLabel('The code on your device').fill('WRNG-CODE')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await examine(undefined)
  })

  it('a broken edit of the users is on the launchpad, and the last good set stays', async () => {
    writeFileSync(join(project.folder, 'idp-users.yaml'), '- sub: [')
    await page.goto(provider.issuer)
    await page.getByRole('status').filter({ hasText: 'idp-users.yaml' }).waitFor()
    await examine(undefined)
    await page.goto(`${provider.issuer}/sign-in`)
    await page.getByRole('button', { name: /^Alice Archer/ }).waitFor()
  })

  it('nothing of a page was refused by its policy', () => {
    expect(refused.filter((text) => text.includes('Content Security Policy'))).to.deep.equal([])
  })

  /** Moves the focus by Tab until it is there, as somebody without a mouse does. */
  async function focus(role: 'link' | 'button' | 'textbox', name: string | RegExp): Promise<void> {
    const wanted = page.getByRole(role, { name })
    for (let steps = 0; steps < 30; steps++) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not lead to ${String(name)}`)
  }

  /** What axe-core finds, and whether the page fits, in light and dark, on a phone and on a desk. */
  async function examine(picture: string | undefined): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1280]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: width === 390 ? 780 : 640 })
        // Contrast is of a colour scheme, and the rest of the markup.
        const found = (width === 390) === (colorScheme === 'dark') ? await violations() : []
        expect(found, `${page.url()} ${colorScheme} ${width}`).to.deep.equal([])
        const tooWide = await page.evaluate(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        )
        expect(tooWide, `${page.url()} at ${width}`).to.equal(false)
        if (picture !== undefined && PICTURES !== undefined)
          await page.screenshot({ path: join(PICTURES, `sign-in-${picture}-${colorScheme}-${width}.png`) })
      }
  }

  /** The pages forbid scripts, so axe-core runs in a world of its own. */
  async function violations(): Promise<readonly string[]> {
    const session = await context.newCDPSession(page)
    const { frameTree } = await session.send<{ frameTree: { frame: { id: string } } }>('Page.getFrameTree')
    const { executionContextId } = await session.send<{ executionContextId: number }>(
      'Page.createIsolatedWorld',
      {
        frameId: frameTree.frame.id,
      },
    )
    await session.send('Runtime.evaluate', { contextId: executionContextId, expression: AXE })
    const { result } = await session.send<{ result: { value: readonly string[] } }>('Runtime.evaluate', {
      ...{ contextId: executionContextId, awaitPromise: true, returnByValue: true },
      expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
    })
    await session.detach()
    return result.value
  }
})

const OTHER_TILES = `- client_id: nowhere
  redirect_uris: [https://nowhere.dev.test/callback]
  tile: { name: Nowhere, description: An app whose address is a script, launch_url: "javascript:alert(1)" }
- client_id: notes-app
  redirect_uris: [https://notes.dev.test/callback]
  tile: { name: Notes, description: Everything you wrote down, launch_url: "https://notes.dev.test/" }
`
