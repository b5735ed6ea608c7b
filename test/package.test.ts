import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { blocksOf } from './support/documents.js'
import { compiled, root } from './support/root.js'

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

describe('the package', function () {
  this.timeout(300_000)
  let folder: string
  let packed: Packed

  before(function () {
    if (basename(compiled) !== 'dist') this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-package-'))
    const made = npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder)
    packed = Object.values(JSON.parse(made) as Record<string, Packed>)[0]!
  })

  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  it('holds what its entries and commands name, and nothing that only we need', () => {
    const paths = packed.files.map(({ path }) => path)
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
    const named = [
      ...Object.values(manifest.bin),
      ...Object.values(manifest.exports).flatMap((entry) =>
        typeof entry === 'string' ? [entry] : Object.values(entry),
      ),
    ].map((path) => path.replace('./', ''))
    expect(named.filter((path) => !path.includes('*') && !paths.includes(path))).to.deep.equal([])
    expect(paths).to.include.members([
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'proto/ashlar/api/v1/annotations.proto',
    ])
    const ours = /(^|\/)(test|bench|examples|node_modules|coverage)\/|\.map$|\.tsbuildinfo$|(?<!\.d)\.ts$/
    expect(paths.filter((path) => ours.test(path))).to.deep.equal([])
  })

  describe('in an empty project', () => {
    let project: string

    before(() => {
      project = join(folder, 'project')
      writeConsumer(project)
      const peers = ['typeorm', '@bufbuild/protobuf', 'sqlite3', 'typescript', '@types/node'].map(
        (name) => `${name}@${versionOf(name)}`,
      )
      npm(
        project,
        'install',
        '--prefer-offline',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        join(folder, packed.filename),
        ...peers,
      )
      // The one native module was compiled for this machine already.
      cpSync(join(root, 'node_modules/sqlite3/build'), join(project, 'node_modules/sqlite3/build'), {
        recursive: true,
      })
    })

    it('compiles with the defaults of TypeScript', () => {
      run(project, process.execPath, join(project, 'node_modules/typescript/bin/tsc'), '-p', '.')
      expect(existsSync(join(project, 'build'))).to.equal(true)
    })

    it('answers to import', () => {
      expect(
        evaluate(
          project,
          `import { ErrNotFound } from 'ashlar'; console.log(new ErrNotFound().message)`,
          'module',
        ),
      ).to.equal('persistence: not found')
    })

    it('answers to require, from a project that is not ESM', () => {
      expect(
        evaluate(
          project,
          `const { ErrNotFound } = require('ashlar'); console.log(new ErrNotFound().message)`,
          'commonjs',
        ),
      ).to.equal('persistence: not found')
    })

    it('is one copy, however it is loaded', () => {
      const program = `import { createRequire } from 'node:module'; import { ErrNotFound } from 'ashlar/persistence'
        console.log(createRequire(import.meta.url)('ashlar').ErrNotFound === ErrNotFound)`
      expect(evaluate(project, program, 'module')).to.equal('true')
    })

    it('keeps what is not in exports to itself', () => {
      expect(() => evaluate(project, `import 'ashlar/dist/lib/errors.js'`, 'module')).to.throw(
        /ERR_PACKAGE_PATH_NOT_EXPORTED/,
      )
    })
  })
})

/** An empty project with TypeScript's own defaults, and in it the service that README shows. */
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
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const generated = readFileSync(join(root, 'examples/widgets/gen/widgets_pb.ts'), 'utf8')
  writeFileSync(
    join(project, 'src/gen/widgets_pb.ts'),
    generated.replaceAll('../../../lib/gen/', 'ashlar/gen/'),
  )
  for (const { file, text, language } of blocksOf('README.md'))
    if (language === 'ts' && file !== undefined) writeFileSync(join(project, 'src', file), text)
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version

const npm = (cwd: string, ...rest: readonly string[]): string => run(cwd, 'npm', ...rest)

const run = (cwd: string, program: string, ...rest: readonly string[]): string => {
  try {
    return execFileSync(program, rest, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${rest.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

function evaluate(project: string, text: string, type: 'module' | 'commonjs'): string {
  const path = join(project, type === 'module' ? 'evaluate.mjs' : 'evaluate.cjs')
  writeFileSync(path, text)
  return run(project, process.execPath, '--no-warnings', path).trim()
}
