import { expect } from 'chai'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../support/browser/chromium.js'
import { startFrontEnd, withPackages } from '../../support/connect/page.js'
import { testDatabase, type TestDatabase } from '../../support/databases/test-database.js'
import { freePort } from '../../support/free-port.js'
import { compiledProject } from '../../support/projects/compiled-project.js'
import {
  hasBuf,
  type LinkedProject,
  linkedProject,
  linkPackage,
} from '../../support/projects/linked-project.js'
import { compiled } from '../../support/root.js'
import { askedBackends } from '../../support/running/asked.js'
import { serviceUrl } from '../../support/running/services.js'
import { blocksOf, textOf } from '../../support/sources/documents.js'
import { until } from '../../support/until.js'

const PAGE = 'docs/guides/getting-started.md'
/** What npm does is done by links, a bundler is not installed, and the database server runs already. */
const NOT_RUN = /^(npm install|npx esbuild|docker run|npx ashlar new|cd) /

/** Every command and every file of the page, in its order. Ports and the database are those of the test. */
describe('the page Getting started', () => {
  const blocks = blocksOf(PAGE)
  const left = new Set(blocks.filter(({ language }) => language === 'sh'))
  const pages = new Map<string, string>()
  let project: LinkedProject
  let development: ChildProcess | undefined
  let said = ''
  let wake: () => void = () => undefined
  let database: TestDatabase | undefined
  let browser: Browser | undefined
  /** The command that starts the service. */
  let start = ''
  let frontEnd: { readonly origin: string; readonly server: Server }
  let ports: readonly (readonly [string, string])[]

  /** The text as it is on the page, but with the ports of this test. */
  const ours = (text: string): string =>
    ports
      .reduce((all, [port, free]) => all.replaceAll(`localhost:${port}`, `127.0.0.1:${free}`), text)
      .replaceAll(/127\.0\.0\.1:8000/g, new URL(frontEnd.origin).host)
  const block = (part: string) => {
    const found = blocks.find(({ text }) => text.includes(part))
    if (found === undefined) throw new Error(`no block of the page has ${part}`)
    left.delete(found)
    return found.text.replaceAll('\\\n', ' ').split('\n')
  }
  const run = (lines: readonly string[]): string =>
    lines
      .filter((line) => !NOT_RUN.test(`${line} `))
      .map((line) =>
        execFileSync('bash', ['-ec', `npx() { "$@"; }\n${ours(line)}`], {
          cwd: project.folder,
          env: project.env,
          encoding: 'utf8',
          stdio: 'pipe',
        }),
      )
      .join('\n')
  /** Starts what goes on running. */
  const begin = (line: string): void => {
    said = ''
    development = spawn('bash', ['-c', ours(line).replace('npm run dev', 'exec ashlar dev')], {
      cwd: project.folder,
      env: { ...project.env, HTTP_ADDR: `127.0.0.1:${at('8080')}`, GRPC_ADDR: `127.0.0.1:${at('9090')}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [development.stdout, development.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text
        wake()
      })
    void once(development, 'exit').then(() => wake())
  }
  const at = (port: string): string => ports.find(([one]) => one === port)?.[1] ?? port
  /** What was printed until the service is ready. @param change - a file whose change it has taken. */
  const ready = async (change = ''): Promise<string> => {
    const ending = new RegExp(`${change === '' ? '' : `changed ${change}\\n[^]*?`}ready after [^\n]*\n`)
    for (;;) {
      const end = ending.exec(said)
      if (end !== null) {
        const until = said.slice(0, end.index)
        said = said.slice(end.index + end[0].length)
        return until
      }
      if (development?.exitCode !== null) throw new Error(`it ended: ${said}`)
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  /** Waits for a service that has the resource: it may have been starting again for an earlier change. */
  const served = (path: string) =>
    until(async () => {
      const headers = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }
      const response = await fetch(`http://127.0.0.1:${at('8080')}${path}`, { headers }).catch(
        () => undefined,
      )
      return response?.status === 200
    }, 120_000)
  const end = async (): Promise<void> => {
    if (development === undefined || development.exitCode !== null) return
    development.kill('SIGINT')
    await once(development, 'exit')
  }
  /** The block behind the name of the file that it is. */
  const file = (name: string): string => {
    const found = new RegExp(`\`${name}\`:\\n\\n\`\`\`\\w+\\n([^]*?)\`\`\``).exec(textOf(PAGE))?.[1]
    if (found === undefined) throw new Error(`the page has no ${name}`)
    mkdirSync(dirname(join(project.folder, name)), { recursive: true })
    writeFileSync(join(project.folder, name), ours(found))
    return ours(found)
  }

  before(async function () {
    const asked = askedBackends()
    const isAsked = asked === undefined || (asked.includes('sqlite') && asked.includes('postgres'))
    if (!hasBuf || basename(compiled) !== 'dist' || !isAsked || serviceUrl('postgres') === undefined)
      return this.skip()
    browser = await openBrowser()
    ports = [
      ['8080', String(await freePort())],
      ['9090', String(await freePort())],
    ]
    frontEnd = await startFrontEnd(pages, (path) => {
      const script = join(project.folder, 'dist', path.startsWith('/src/') ? path : join('web', path))
      return existsSync(script) ? readFileSync(script, 'utf8') : undefined
    })
  })
  after(async () => {
    await end()
    await browser?.close()
    frontEnd?.server.close()
    await database?.drop()
    if (project !== undefined) rmSync(dirname(project.folder), { recursive: true, force: true })
  })

  it('makes a project, starts it, and creates a resource', async () => {
    const lines = block('ashlar new')
    const [, name = '', choices = ''] = /^npx ashlar new (\w+) (.*)$/.exec(lines[0] ?? '') ?? []
    project = await linkedProject(name, choices.split(' '))
    start = lines.at(-1) ?? ''
    begin(start)
    await ready()
    expect(run(block('project_id=apollo'))).to.include('"title":"Apollo"')
  })

  it('adds a resource, and calls it over HTTP/JSON and gRPC', async () => {
    run(block('generate resource Task --parent'))
    for (const [, path = ''] of textOf(PAGE).matchAll(/^\| `([\w.-]+\/[\w./-]+)` +\|/gm))
      expect(existsSync(join(project.folder, path)), path).to.equal(true)
    await served('/v1/projects/apollo/tasks')
    // Nobody made a mistake.
    const mistakes = said.split('\n').filter((line) => /\berrors?\b/.test(line))
    expect(mistakes).to.deep.equal([])
    expect(run(block('"title": "Land"'))).to.include('"state":"OPEN"')
    expect(run(block('buf curl'))).to.include('"title": "Land"')
  })

  it('calls it from a page in a browser', async function () {
    for (const name of block('--save-dev esbuild')[0]?.split(' ').slice(3) ?? [])
      if (name !== 'esbuild') linkPackage(project.folder, name)
    // With a service that watches the folder, the page could meet one of its restarts.
    await end()
    pages.set('/', withPackages(file('web/index.html')))
    file('web/tasks.ts')
    writeFileSync(join(project.folder, 'web/tsconfig.json'), WEB)
    expect(compiledProject(join(project.folder, 'web'))).to.deep.equal([])
    const { include } = JSON.parse(readFileSync(join(project.folder, 'tsconfig.json'), 'utf8')) as {
      include: string[]
    }
    expect(include).to.include('web')
    begin(start)
    await ready()
    if (browser === undefined) return this.skip()
    const page = await browser.newPage({ viewport: { width: 700, height: 420 } })
    const complaints: string[] = []
    page.on('pageerror', (error) => void complaints.push(error.message))
    await page.goto(frontEnd.origin)
    await page.locator('li').first().waitFor()
    await page.locator('input').fill('Refuel')
    await page.locator('button').click()
    await page.locator('li').nth(1).waitFor()
    const items = (await page.locator('ul').innerText()).split('\n')
    expect([items, complaints]).to.deep.equal([['Land', 'Refuel'], []])
    const folder = process.env['SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'ashlar-page-'))
    await page.screenshot({ path: join(folder, 'getting-started.png') })
    await page.close()
  })

  it('runs the tests, one of which proves that tenants stay apart', async () => {
    await end()
    expect(run(block('npm test'))).to.match(/^# fail 0$/m)
    const proof = blocks.find(({ text }) => text.includes('for (const method of'))?.text ?? ''
    const test = readFileSync(join(project.folder, 'test/tasks.test.ts'), 'utf8')
    expect(test.replaceAll(/\s+/g, ' ')).to.include(proof.replaceAll(/\s+/g, ' '))
  })

  it('goes on PostgreSQL, with migrations', async () => {
    run(block('docker run'))
    const lines = block('ashlar migrate new')
    linkPackage(project.folder, 'pg')
    database = await testDatabase('postgres')
    const [, name = ''] = /^export (\w+)=/m.exec(lines.join('\n')) ?? []
    project.env[name] = database.url
    expect(run(lines.slice(0, -1))).to.match(/applied \d+_init\w*_tasks/)
    begin(lines.at(-1) ?? '')
    await ready()
    expect(run(block('project_id=apollo'))).to.include('"title":"Apollo"')
    expect(run(block('"title": "Land"'))).to.include('"title":"Land"')

    expect(run(block("Task --fields 'weight:int32'\nnpx ashlar migrate up"))).to.match(
      /applied \d+_task\w*_weight/,
    )
    await ready('src/tasks/task.ts')
    const sized = block('"title": "Land"').map((line) => line.replace('"state": "OPEN"', '"weight": 3'))
    expect(run(sized)).to.include('"weight":3')
  })

  it('removes the sample resource', async () => {
    const other = await linkedProject('shop', ['--database', 'sqlite', '--no-nest', '--auth', 'headers'])
    try {
      for (const line of block('rm -r ./src/projects'))
        execFileSync('bash', ['-ec', `npx() { "$@"; }\n${line}`], { cwd: other.folder, env: other.env })
      for (const name of ['src/entities.ts', 'src/services.ts']) {
        const path = join(other.folder, name)
        const lines = readFileSync(path, 'utf8').split('\n')
        writeFileSync(path, lines.filter((line) => !line.includes('./projects/')).join('\n'))
      }
      expect(other.test()).to.match(/^# fail 0$/m)
    } finally {
      rmSync(dirname(other.folder), { recursive: true, force: true })
    }
  })

  it('has no command that was not run', () => {
    expect([...left].map(({ line, text }) => `${line}: ${text}`)).to.deep.equal([])
  })
})

/** The page is compiled by the options of the project. */
const WEB = JSON.stringify({
  extends: '../tsconfig.json',
  compilerOptions: {
    ...{ rootDir: '..', outDir: '../dist', tsBuildInfoFile: '../dist/web.tsbuildinfo' },
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  },
  include: ['.'],
})
