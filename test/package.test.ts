import { expect } from 'chai'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readmeSources } from './support/sources/readme-project.js'
import { freePort } from './support/free-port.js'
import { compiled, root } from './support/root.js'

interface Packed {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

const HTTP_PORT = await freePort()

describe('the package', function () {
  this.timeout(300_000)
  let folder: string | undefined
  let packed: Packed
  let annotations: Packed
  let project: string

  before(function () {
    // Packs `dist`: tests that were compiled elsewhere would be talking about something else.
    if (basename(compiled) !== 'dist') this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-package-'))
    project = join(folder, 'project')
    const workspaces = ['--workspaces', '--include-workspace-root']
    const made = run(
      ...[root, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder],
      ...workspaces,
    )
    const all = Object.values(JSON.parse(made) as Record<string, Packed>)
    packed = all.find(({ name }) => name === 'ashlar')!
    annotations = all.find(({ name }) => name === 'ashlar-annotations')!
  })

  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  it('holds what its entries and commands name, and nothing that only we need', () => {
    const paths = packed.files.map(({ path }) => path)
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    )
    const named = [...Object.values(manifest.bin), ...entries].map((path) => path.replace('./', ''))
    expect(named.filter((path) => !path.includes('*') && !paths.includes(path))).to.deep.equal([])
    expect(paths).to.include.members(['LICENSE', 'README.md', 'CHANGELOG.md'])
    const ours =
      /(^|\/)(test|bench|node_modules|coverage)\/|\.map$|\.tsbuildinfo$|^(?!examples\/).*(?<!\.d)\.ts$/
    const templates = paths.filter((path) => path.startsWith('cli/new/templates/'))
    expect(templates).to.include('cli/new/templates/base/.gitignore.tmpl')
    expect(paths.filter((path) => ours.test(path) && !templates.includes(path))).to.deep.equal([])
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
      const peers = ['typeorm', '@bufbuild/protobuf', 'sqlite3', 'typescript', '@types/node'].map(
        (name) => `${name}@${versionOf(name)}`,
      )
      const tarball = join(project, '..', packed.filename)
      run(
        project,
        'npm',
        'install',
        '--prefer-offline',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        tarball,
        join(project, '..', annotations.filename),
        ...peers,
      )
      // The one native module was compiled for this machine already.
      cpSync(join(root, 'node_modules/sqlite3/build'), join(project, 'node_modules/sqlite3/build'), {
        recursive: true,
      })
    })

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

    it('keeps what is not in exports to itself', () => {
      const program = `import('ashlar/dist/lib/errors.js').catch(({ code }) => console.log(code))`
      expect(evaluate(project, program, 'mjs')).to.equal('ERR_PACKAGE_PATH_NOT_EXPORTED')
    })

    it('brings commands that run', () => {
      expect(run(project, join(project, 'node_modules/.bin/ashlar'), '--help')).to.include('ashlar')
    })

    describe("README's service", () => {
      let server: ChildProcess | undefined
      const address = `http://127.0.0.1:${HTTP_PORT}`
      const staff = {
        'account-id': 'acme',
        subject: 'ann',
        groups: 'staff',
        'content-type': 'application/json',
      }

      before(async () => {
        run(project, process.execPath, join(project, 'node_modules/typescript/bin/tsc'), '-p', '.')
        const environment = {
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
    })
  })
})

/**
 * An empty project with TypeScript's own defaults, and in it the example as a user would write it: with the names of the
 * package, and README's blocks in place of the files that they name.
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
  for (const [file, text] of readmeSources())
    writeFileSync(
      join(project, 'src', file),
      text.replaceAll("':8080'", `'127.0.0.1:${HTTP_PORT}'`).replaceAll("':9090'", "'127.0.0.1:0'"),
    )
}

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version

function run(cwd: string, program: string, ...rest: readonly string[]): string {
  try {
    return execFileSync(program, rest, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${rest.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

function evaluate(project: string, text: string, extension: 'mjs' | 'cjs'): string {
  const path = join(project, `evaluate.${extension}`)
  writeFileSync(path, text)
  return run(project, process.execPath, '--no-warnings', path).trim()
}

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).status === 200
  } catch {
    return false
  }
}
