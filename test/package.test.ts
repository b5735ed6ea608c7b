import { expect } from 'chai'
import { build, type Metafile, type PluginBuild } from 'esbuild'
import { type ChildProcess, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { widgetSources } from './support/sources/widget-sources.js'
import { freePort } from './support/free-port.js'
import { drilling } from './support/drill.js'
import { compiledProject } from './support/projects/compiled-project.js'
import { unpackedInto } from './support/projects/packed-project.js'
import { canPack, type Packed, packedInto, run } from './support/projects/packed-package.js'
import { root } from './support/root.js'

interface SourceMap {
  readonly sources: readonly string[]
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<
    Record<string, string | Readonly<Record<string, Readonly<Record<string, string>>>>>
  >
}

const HTTP_PORT = await freePort()
const isBundle = (path: string): boolean => /^dist\/cjs\/(?!packages\/).*\.js$/.test(path)
const packageOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? ''

describe('the package', () => {
  let folder: string | undefined
  let packed: Packed
  let annotations: Packed
  let project: string

  before(function () {
    if (!canPack) this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-package-'))
    project = join(folder, 'project')
    ;({ ashlar: packed, annotations } = packedInto(folder))
  })

  const bundles = (): readonly string[] =>
    packed.files
      .filter(({ path }) => isBundle(path))
      .map(({ path }) => readFileSync(join(folder!, 'tree', path), 'utf8'))

  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  it('holds what its entries and commands name, and nothing that only we need', () => {
    const paths = packed.files.map(({ path }) => path)
    const manifest = JSON.parse(readFileSync(join(folder!, 'tree/package.json'), 'utf8')) as Manifest
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string'
        ? [entry]
        : Object.values(entry).flatMap((condition) => Object.values(condition)),
    )
    const named = [...Object.values(manifest.bin), ...entries].map((path) => path.replace('./', ''))
    expect(named.filter((path) => !path.includes('*') && !paths.includes(path))).to.deep.equal([])
    expect(paths).to.include.members(['LICENSE', 'README.md', 'CHANGELOG.md'])
    const ours = /(^|\/)(test|bench|node_modules|coverage)\/|\.tsbuildinfo$|^(?!examples\/).*(?<!\.d)\.ts$/
    const templates = paths.filter((path) => path.startsWith('cli/new/templates/'))
    expect(templates).to.include('cli/new/templates/base/.gitignore.tmpl')
    expect(paths.filter((path) => ours.test(path) && !templates.includes(path))).to.deep.equal([])
  })

  it('holds bundles, which share their chunks, and the maps of their sources', () => {
    const paths = packed.files.map(({ path }) => path)
    const modules = paths.filter((path) => isBundle(path))
    expect(modules.filter((path) => !paths.includes(`${path}.map`))).to.deep.equal([])
    const holders = new Map<string, string[]>()
    for (const path of modules) {
      const map = JSON.parse(readFileSync(join(folder!, 'tree', `${path}.map`), 'utf8')) as SourceMap
      for (const source of map.sources) {
        const file = join(dirname(path), source)
        expect(existsSync(join(root, file)), `${path} has ${file}`).to.equal(true)
        holders.set(file, [...(holders.get(file) ?? []), path])
      }
    }
    expect(holders.size).to.be.greaterThan(500)
    expect([...holders].filter(([, bundles]) => bundles.length > 1)).to.deep.equal([])
  })

  it('holds bundles of ASCII, of which Node keeps a byte per character', () => {
    expect(bundles().filter((text) => /[^\x00-\x7f]/.test(text))).to.deep.equal([])
  })

  it('holds ES modules that import what has a form of its own for them, and the bundles', () => {
    const imported = packed.files
      .filter(({ path }) => /^dist\/(?!cjs\/).*\.js$/.test(path))
      .flatMap(({ path }) => [
        ...readFileSync(join(folder!, 'tree', path), 'utf8').matchAll(/^import .*?"([^"]+)";$/gm),
      ])
      .map(([, name = '']) => name)
    const names = new Set(imported.filter((name) => !name.startsWith('.')).map(packageOf))
    expect([...names].sort()).to.deep.equal(['@bufbuild/protobuf', 'ashlar-annotations'])
  })

  it('holds the documentation and the examples, and what their links lead to', () => {
    const paths = new Set(packed.files.map(({ path }) => path))
    expect([...paths]).to.include.members(['docs/guides/relations.md', 'examples/library/book.ts'])
    const dead = [...paths]
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#:\s]+)(?:#[^)\s]*)?\)/g)]
          .map(([, to = '']) => join(dirname(page), to))
          .filter((to) => !paths.has(to))
          .map((to) => `${page}: ${to}`),
      )
    expect(dead).to.deep.equal([])
  })

  describe('in an empty project', () => {
    before(() => {
      writeConsumer(project)
      const peers = ['typeorm', '@bufbuild/protobuf', 'sqlite3', 'typescript', '@types/node']
      if (drilling) install(peers)
      else unpackedInto(project, folder!, [packed, annotations], peers)
    })

    const install = (peers: readonly string[]): void => {
      const files = [packed, annotations].map(({ filename }) => join(folder!, filename))
      const named = peers.map((name) => `${name}@${versionOf(name)}`)
      const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
      run(project, 'npm', 'install', ...flags, ...files, ...named)
      // The one native module was compiled for this machine already.
      cpSync(join(root, 'node_modules/sqlite3/build'), join(project, 'node_modules/sqlite3/build'), {
        recursive: true,
      })
    }

    it('can be imported', () => {
      const program = `import { ErrNotFound } from 'ashlar'; console.log(new ErrNotFound().message)`
      expect(evaluate(project, program, 'mjs')).to.equal('persistence: not found')
    })

    it('can be required, from a project that is not ESM', () => {
      const program = `const { ErrNotFound } = require('ashlar'); console.log(new ErrNotFound().message)`
      expect(evaluate(project, program, 'cjs')).to.equal('persistence: not found')
    })

    it('is one copy, however it is loaded', () => {
      const program = `import { createRequire } from 'node:module'; import { ErrNotFound } from 'ashlar/persistence'
        console.log(createRequire(import.meta.url)('ashlar').ErrNotFound === ErrNotFound)`
      expect(evaluate(project, program, 'mjs')).to.equal('true')
    })

    it('knows the entity that one form of it has declared in the other one', () => {
      const program = `import { createRequire } from 'node:module'
        import { memoryRepositoryOf } from 'ashlar'
        import { Column, Entity, PrimaryColumn } from 'typeorm'
        const required = createRequire(import.meta.url)
        const { Resource, TenantScoped } = required('ashlar/decorators')
        const { withTenant } = required('ashlar/testing')
        class Note {}
        PrimaryColumn({ type: String })(Note.prototype, 'id')
        Column({ type: String })(Note.prototype, 'text')
        for (const decorate of [TenantScoped(), Entity('notes'), Resource()]) decorate(Note)
        const notes = new (memoryRepositoryOf(Note))()
        const { id } = await withTenant('acme', () => notes.create({ text: 'a' }))
        console.log((await withTenant('acme', () => notes.get(id))).accountId)`
      expect(evaluate(project, program, 'mjs')).to.equal('acme')
    })

    it('can be bundled into an application, with the one copy of TypeORM that the application imports', async () => {
      const { metafile } = await build({
        stdin: { contents: `import 'typeorm'; import 'ashlar'`, resolveDir: project },
        absWorkingDir: project,
        bundle: true,
        preserveSymlinks: true,
        ignoreAnnotations: true,
        platform: 'node',
        format: 'esm',
        write: false,
        metafile: true,
        plugins: [{ name: 'others', setup: leaveOthers }],
      })
      const [{ imports }] = Object.values(metafile.outputs) as [Metafile['outputs'][string]]
      const left = imports.filter(({ external }) => external).map(({ path }) => path)
      expect(left).to.include('@grpc/grpc-js').and.not.include('typeorm')
      expect(metafile.inputs).to.include.keys(
        'node_modules/typeorm/index.js',
        'node_modules/typeorm/index.mjs',
      )
    })

    it('keeps the names of its classes', () => {
      const entries = [
        'ashlar',
        ...['decorators', 'persistence', 'server', 'events', 'client', 'migrations', 'testing'].map(
          (one) => `ashlar/${one}`,
        ),
      ]
      const program = `for (const entry of ${JSON.stringify(entries)})
        for (const [name, value] of Object.entries(await import(entry)))
          if (typeof value === 'function' && /^class /.test(String(value)) && value.name !== name) console.log(entry, name, value.name)`
      expect(evaluate(project, program, 'mjs')).to.equal('')
      const nest = readFileSync(join(project, 'node_modules/ashlar/dist/cjs/lib/nest/index.js'), 'utf8')
      expect(nest).to.include('value: "AshlarModule"')
    })

    it('names its sources in the stack of an error', () => {
      const program = `import { newDev } from 'ashlar/secrets'
        try { newDev('not a key') } catch (error) { console.log(error.stack) }`
      const path = join(project, 'evaluate-stack.mjs')
      writeFileSync(path, program)
      const stack = run(project, process.execPath, '--enable-source-maps', path)
      expect(stack).to.match(/node_modules\/ashlar\/lib\/secrets\/dev-encryptor\.ts:\d+:\d+/)
    })

    it('keeps what is not in exports to itself', () => {
      const program = `import('ashlar/dist/lib/errors.js').catch(({ code }) => console.log(code))`
      expect(evaluate(project, program, 'mjs')).to.equal('ERR_PACKAGE_PATH_NOT_EXPORTED')
    })

    it('brings commands that run', () => {
      expect(run(project, join(project, 'node_modules/.bin/ashlar'), '--help')).to.include('ashlar')
    })

    describe("the widgets' service", () => {
      let server: ChildProcess | undefined
      const address = `http://127.0.0.1:${HTTP_PORT}`
      const staff = {
        'account-id': 'acme',
        subject: 'ann',
        groups: 'staff',
        'content-type': 'application/json',
      }

      before(async () => {
        expect(compiledProject(project)).to.deep.equal([])
        const environment = {
          NODE_V8_COVERAGE: join(project, 'coverage'),
          GRPC_ADDR: '127.0.0.1:0',
          HTTP_ADDR: `127.0.0.1:${HTTP_PORT}`,
          WIDGETS_DATABASE: ':memory:',
        }
        server = spawn(process.execPath, ['build/main.js'], {
          cwd: project,
          stdio: ['ignore', 'ignore', 'pipe'],
          env: { ...process.env, NODE_ENV: 'development', ...environment },
        })
        let said = ''
        server.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
        while (server.exitCode === null && !(await answers(`${address}/readyz`))) await pause(50)
        expect(server.exitCode, `the server ended: ${said}`).to.equal(null)
      })

      after(() => server?.kill('SIGKILL'))

      it('creates and reads a widget', async () => {
        const body = JSON.stringify({ displayName: 'Anvil' })
        const created = await fetch(`${address}/v1/widgets`, { method: 'POST', headers: staff, body })
        expect(created.status).to.equal(200)
        const { id } = (await created.json()) as { id: string }
        const read = await fetch(`${address}/v1/widgets/${id}`, { headers: staff })
        expect(await read.json()).to.deep.include({ id, displayName: 'Anvil' })
      })

      it('denies whoever says nothing of themselves', async () => {
        expect((await fetch(`${address}/v1/widgets`)).status).to.equal(403)
      })

      it('ends cleanly', async () => {
        const ended = new Promise((resolve) => server?.once('exit', resolve))
        server?.kill('SIGTERM')
        expect(await ended).to.equal(0)
      })

      it('has loaded nothing that is not configured', () => {
        const loaded = loadedIn(join(project, 'coverage'))
        const bundles = loaded.filter((path) => path.includes('/node_modules/ashlar/dist/'))
        expect(bundles).to.include(join(project, 'node_modules/ashlar/dist/lib/index.js'))
        expect(bundles.length).to.be.lessThan(60)
        const packages = new Set(loaded.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]))
        expect([...packages]).to.include.members(['ashlar', 'typeorm', 'nice-grpc'])
        for (const lazy of ['jose', 'chokidar', 'yaml', '@opentelemetry/api'])
          expect([...packages], lazy).to.not.include(lazy)
        const modules = bundles.filter((path) => existsSync(`${path}.map`))
        const sources = modules.flatMap(
          (path) => (JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMap).sources,
        )
        expect(sources.filter((source) => source.endsWith('/token-verifier.ts'))).to.deep.equal([])
      })
    })
  })
})

/**
 * An empty project with TypeScript's own defaults, and in it the example as a user would write it: with the
 * names of the package, and the guide's blocks in place of the files that they name.
 */
function writeConsumer(project: string): void {
  const compilerOptions = {
    ...{
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      rootDir: 'src',
      outDir: 'build',
      types: ['node'],
    },
    ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
  }
  mkdirSync(join(project, 'src/gen'), { recursive: true })
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  )
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['src/main.ts'] }))
  for (const [file, text] of widgetSources())
    writeFileSync(
      join(project, 'src', file),
      text.replaceAll("':8080'", `'127.0.0.1:${HTTP_PORT}'`).replaceAll("':9090'", "'127.0.0.1:0'"),
    )
}

const manifestOf = (name: string): { readonly version: string; readonly type?: string } =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as never

const versionOf = (name: string): string => manifestOf(name).version

/** Leaves out every package but TypeORM and this one. */
const leaveOthers = ({ onResolve }: PluginBuild): void =>
  onResolve({ filter: /^[^./]/ }, ({ path }) =>
    /^(typeorm|ashlar)$/.test(path) ? undefined : { path, external: true },
  )

function evaluate(project: string, text: string, extension: 'mjs' | 'cjs'): string {
  const path = join(project, `evaluate.${extension}`)
  writeFileSync(path, text)
  return run(project, process.execPath, '--no-warnings', path).trim()
}

/** The files that a process has loaded, which wrote its coverage into the folder. */
const loadedIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] })
    .flatMap(({ result }) => result)
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => realpathSync(fileURLToPath(url)))

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).status === 200
  } catch {
    return false
  }
}
