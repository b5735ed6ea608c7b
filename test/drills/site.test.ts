import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser/chromium.js'
import { drilling } from '../support/drill.js'
import { root } from '../support/root.js'
import { surface } from '../support/sources/surface.js'

const built = join(root, 'docs', 'dist')
const api = join(root, 'docs', 'reference', 'api')
const pictures = join(root, '.cache', 'site')
const SHOWN = ['/', '/reference/server.html']
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Words that people search for, and a page that is found first. */
const SEARCHED: Readonly<Record<string, readonly string[]>> = {
  'guides/authorization': ['authentication', 'authorization', 'api key'],
  'guides/backfills': ['backfill'],
  'guides/changing-tables': ['rename'],
  'guides/clients': ['optimistic locking', 'etag'],
  'guides/coming-from-nest': ['nestjs'],
  'guides/connect': ['cors', 'grpc-web'],
  'guides/database-takeover': ['prisma'],
  'guides/deploying': ['kubernetes', 'docker'],
  'guides/encryptors': ['encryption', 'vault'],
  'guides/identity-providers': ['keycloak', 'auth0', 'entra', 'oauth', 'jwt'],
  'guides/missing': [
    ...['cron', 'graphql', 'websocket', 'file upload', 'caching', 'upsert', 'bulk insert', 'mongodb'],
    ...['many to many', 'read replica', 'audit log', 'aggregate'],
  ],
  'guides/modelling': ['soft delete'],
  'guides/openapi': ['openapi', 'swagger'],
  'guides/operating': ['health check'],
  'guides/row-authorization': ['row level security'],
  'guides/scaling': ['sharding'],
  'guides/secrets': ['gdpr'],
  'guides/telemetry': ['metrics', 'tracing'],
  'reference/columns': ['decimal', 'enum', 'json', 'array'],
  'reference/filters': ['pagination', 'sorting'],
  'reference/connections': ['pgbouncer'],
  'reference/search': ['full text search'],
  'reference/validation': ['validation'],
  'reference/limits': ['rate limit'],
  'reference/idempotency': ['idempotency'],
  'reference/server': ['logging', 'timeout', 'streaming'],
}

/** Builds the site, follows every link in it and takes pictures of two pages into `.cache/site`. */
const describeDrill = drilling ? describe : describe.skip

describeDrill('the site of the documentation', () => {
  let server: Server | undefined
  let origin: string
  let browser: Browser | undefined

  before(async () => {
    execFileSync('npm', ['run', 'docs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    server = createServer((request, response) => {
      const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname)
      const file = join(built, path.endsWith('/') ? join(path, 'index.html') : path)
      const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true
      response.writeHead(isThere ? 200 : 404, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      })
      response.end(isThere ? readFileSync(file) : undefined)
    })
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    server?.close()
  })

  it('has no link that leads nowhere, to a page or to a heading', () => {
    const pages = new Map(htmlFiles().map((path) => [`/${path}`, readFileSync(join(built, path), 'utf8')]))
    const ids = new Map([...pages].map(([path, text]) => [path, idsIn(text)]))
    const dead: string[] = []
    let followed = 0
    for (const [page, text] of pages)
      for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        const url = new URL(href.replaceAll('&amp;', '&'), new URL(page, origin))
        if (url.origin !== origin) continue
        followed++
        const path = url.pathname.endsWith('/') ? `${url.pathname}index.html` : url.pathname
        const heading = decodeURIComponent(url.hash.slice(1))
        const isThere = ids.has(path) && (heading === '' || ids.get(path)?.has(heading) === true)
        if (!isThere) dead.push(`${page}: ${href}`)
      }
    process.stdout.write(`      ${followed} links of ${pages.size} pages\n`)
    expect(followed).to.be.greaterThan(1000)
    expect([...new Set(dead)]).to.deep.equal([])
  })

  it('lists on its page what an application imports, each with a sentence', () => {
    const page = readFileSync(join(api, 'ashlar', 'index.md'), 'utf8')
    const listed = [...page.matchAll(/^\| \[([^\]]+)\]\([^)]+\) \| (.+) \|$/gm)]
    const names = surface()
      .exportsOf('ashlar')
      .map(({ name }) => name)
    const others = surface().entries.filter((entry) => entry !== 'ashlar')
    expect(listed.map(([, name = '']) => name).sort()).to.deep.equal([...names, ...others].sort())
    expect(listed.filter(([, , sentence = '']) => !/\.$/.test(sentence))).to.deep.equal([])
  })

  it('prints a mapped or conditional type only where the type itself is described', () => {
    const files = readdirSync(api, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.md') && !path.includes('type-aliases'),
    )
    expect(files.length).to.be.greaterThan(200)
    const printed = files.flatMap((path) =>
      readFileSync(join(api, path), 'utf8')
        .replaceAll(/^```.*?^```/gms, '')
        .split('\n')
        .filter((line) => /\[\w+ in |\*extends\*.* \? /.test(line))
        .map((line) => `${path}: ${line}`),
    )
    expect(printed).to.deep.equal([])
  })

  it('asks nobody else for anything, and is searched offline', async function () {
    if (browser === undefined) return this.skip()
    const page = await browser.newPage()
    const foreign: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(origin)) foreign.push(request.url())
    })
    await page.goto(`${origin}/guides/relations.html`)
    await page.locator('.VPNavBarSearch button').click()
    await page.locator('.search-input').fill('tenant')
    await page.locator('.result').first().waitFor()
    expect(await page.locator('.result').count()).to.be.greaterThan(3)
    expect(foreign).to.deep.equal([])
    await page.close()
  })

  it('finds the right page first', async () => {
    const words = Object.entries(SEARCHED).flatMap(([page, all]) => all.map((word) => ({ page, word })))
    expect(words).to.have.length.at.least(40)
    const index = await searchIndex()
    const wrong = words
      .map(({ page, word }) => ({
        page,
        word,
        first: String(index.search(word)[0]?.id).replace(/\.html.*/, ''),
      }))
      .filter(({ page, first }) => first !== `/${page}`)
    expect(wrong).to.deep.equal([])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      it(`fits into ${width} pixels, ${colorScheme}`, async function () {
        if (browser === undefined) return this.skip()
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
        const errors: string[] = []
        page.on('pageerror', (error) => errors.push(error.message))
        for (const shown of SHOWN) await expectFits(page, shown, `${colorScheme}-${width}`)
        expect(errors).to.deep.equal([])
        await page.close()
      })

  async function expectFits(page: Page, shown: string, name: string): Promise<void> {
    await page.goto(origin + shown, { waitUntil: 'networkidle' })
    await page.screenshot({ path: join(pictures, `${shown === '/' ? 'front' : 'reference'}-${name}.png`) })
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect(tooWide, `${shown} is wider than the screen`).to.be.at.most(0)
  }
})

interface SearchIndex {
  search(words: string): readonly { readonly id: unknown }[]
}

/** The index as the site loads it, with its options. */
async function searchIndex(): Promise<SearchIndex> {
  const chunks = join(built, 'assets', 'chunks')
  const chunk = readdirSync(chunks).find((name) => name.includes('localSearchIndexroot')) ?? ''
  const load = async <T>(path: string): Promise<T> => (await import(pathToFileURL(path).href)) as T
  const { default: json } = await load<{ default: string }>(join(chunks, chunk))
  const { default: MiniSearch } = await load<{
    default: { loadJSON(json: string, options: object): SearchIndex }
  }>(join(root, 'docs/node_modules/minisearch/dist/es/index.js'))
  const { miniSearch } = await load<{ miniSearch: object }>(join(root, 'docs/.vitepress/pages.js'))
  const fields = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] }
  return MiniSearch.loadJSON(json, { ...fields, ...miniSearch })
}

const htmlFiles = (): readonly string[] =>
  readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'))

const idsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id.replaceAll('&amp;', '&')))
