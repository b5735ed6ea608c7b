import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Ran, runCli } from '../run-cli.js'
import { root } from '../root.js'
import { enginesFolder } from '../databases/better-sqlite3.js'
import { bundledPackage } from './bundled-package.js'
import { compiledProject, NATIVE_TSC } from './compiled-project.js'

const ENGINES = join(enginesFolder, 'node_modules')
/** The path of the buf program. */
export const BUF = join(ENGINES, '@bufbuild/buf-linux-x64/bin/buf')
/** The programs of the development dependencies of a project. */
const PROGRAMS = {
  buf: BUF,
  'protoc-gen-es': join(ENGINES, '.bin/protoc-gen-es'),
  tsc: NATIVE_TSC,
  'ashlar-idp': join(root, 'packages/idp/bin/ashlar-idp.js'),
}

/** A project of `ashlar new` that uses the packages of this repository. */
export interface LinkedProject {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Runs `ashlar` in the project folder. */
  ashlar(...args: readonly string[]): Promise<Ran>
  /**
   * Does the work of `npm run build`: generates code from the .proto files and returns the compiler's errors.
   */
  build(): readonly string[]
  /** Runs `npm test`, which must pass, and returns the output. */
  test(): string
}

/**
 * True on Linux with an x64 processor, the only platform that buf is installed for here. Elsewhere, the tests
 * of generated projects are skipped.
 */
export const hasBuf = process.platform === 'linux' && process.arch === 'x64'

export async function linkedProject(
  name: string,
  choices: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<LinkedProject> {
  const parent = mkdtempSync(join(tmpdir(), 'ashlar-project-'))
  const folder = join(parent, name)
  const { exit, stderr } = await runCli('ashlar', ['new', name, ...choices], { cwd: parent })
  expect([exit, stderr]).to.deep.equal([0, ''])
  const from = await bundledPackage()
  link(folder, from)
  const { NODE_OPTIONS: _, NODE_ENV: __, ...outer } = process.env
  const all = { ...outer, ...env, PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}` }
  return {
    folder,
    env: all,
    ashlar: (...args) => runCli('ashlar', args, { from, cwd: folder, env: all }),
    build: () => {
      execFileSync('buf', ['generate'], { cwd: folder, env: all, stdio: ['ignore', 'ignore', 'inherit'] })
      return compiledProject(folder)
    },
    test() {
      try {
        return execFileSync('npm', ['test', '--silent'], { cwd: folder, env: all, encoding: 'utf8' })
      } catch (error) {
        throw new Error((error as { stdout: string }).stdout, { cause: error })
      }
    },
  }
}

function link(folder: string, ashlar: string): void {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>
  for (const name of Object.keys({ ...dependencies, ...devDependencies }))
    if (name === 'ashlar') linkModule(folder, name, ashlar)
    else if (name !== '@bufbuild/buf' && name !== '@bufbuild/protoc-gen-es') linkPackage(folder, name)
  const programs = { ...PROGRAMS, ashlar: join(ashlar, 'bin/ashlar.js') }
  for (const [name, program] of Object.entries(programs)) linkModule(folder, `.bin/${name}`, program)
}

/** Does the work of `npm install <name>` in a linked project. */
export const linkPackage = (folder: string, name: string): void =>
  linkModule(folder, name, join(root, 'node_modules', name))

function linkModule(folder: string, path: string, target: string): void {
  const link = join(folder, 'node_modules', path)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(target, link)
}
