import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../../support/drill.js'
import { hasBuf } from '../../support/projects/linked-project.js'
import { canPack, packedInto } from '../../support/projects/packed-package.js'
import { root } from '../../support/root.js'
import { type Service, serviceUrl } from '../../support/running/services.js'

const DATABASES: readonly { readonly database: string; readonly service?: Service }[] = [
  { database: 'sqlite' },
  { database: 'postgres', service: 'postgres' },
  { database: 'mysql', service: 'mysql' },
]
/** Each database with each kind of project, and each way of saying who calls with each of both. */
const PROJECTS = DATABASES.flatMap(({ database, service }) =>
  ['--nest', '--no-nest'].flatMap((kind) =>
    ['headers', 'oidc'].map((auth) => ({ service, choices: ['--database', database, kind, '--auth', auth] })),
  ),
)
const FIELDS = 'title:string! due:timestamp? state:enum(OPEN,DONE) price:double tags:string[]'
const GENERATE = ['ashlar', 'generate', 'resource', 'Task'] as const

describe('projects with packages that npm installs', () => {
  let folder: string
  let tarballs: Readonly<Record<string, string>>

  before(function () {
    if (!drilling || !hasBuf || !canPack) this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-installed-'))
    packSqlite(join(folder, 'prebuilt'))
    const all = Object.values(packedInto(folder))
    tarballs = Object.fromEntries(all.map(({ name, filename }) => [name, `file:${join(folder, filename)}`]))
  })
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  for (const { service, choices } of PROJECTS)
    it(`compile, start and pass their tests: ashlar new ${choices.join(' ')}`, function () {
      const url = service === undefined ? undefined : serviceUrl(service)
      if (service !== undefined && url === undefined) this.skip()
      const project = join(folder, choices.join('').replaceAll(/\W+/g, ''))
      const env = {
        ...(url !== undefined && { ASHLAR_DATABASE_URL: url }),
        npm_config_sqlite3_local_prebuilds: join(folder, 'prebuilt'),
      }
      const inside = (command: string, ...args: readonly string[]) =>
        run({ cwd: project, env }, command, ...args)
      const seconds: string[] = []
      const timed = (what: string, work: () => void) => {
        const since = performance.now()
        work()
        seconds.push(`${what} ${((performance.now() - since) / 1000).toFixed(1)}`)
      }
      const tests = () => expect(inside('npm', 'test')).to.match(/^# fail 0$/m)

      run(
        { cwd: folder },
        process.execPath,
        join(root, 'bin/ashlar.js'),
        'new',
        project,
        '--name',
        'shop',
        ...choices,
      )
      const manifest = join(project, 'package.json')
      const written = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: Record<string, string> }
      const dependencies = { ...written.dependencies, ...tarballs }
      writeFileSync(manifest, JSON.stringify({ ...written, dependencies }))

      timed('npm install', () => inside('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund'))
      expect(boundToPlatform(join(project, 'package-lock.json'))).to.deep.equal([])
      checkCleanInstall(inside)
      timed('tests', tests)
      timed('a resource', () => inside('npx', ...GENERATE, '--parent', 'Project', '--fields', FIELDS))
      timed('tests', tests)
      timed('fields', () => inside('npx', ...GENERATE, '--fields', 'size:int32 note:text?'))
      timed('tests', tests)
      process.stdout.write(`      seconds: ${seconds.join(', ')}\n`)
      rmSync(project, { recursive: true })
    })
})

/**
 * Dockerfile and CI say `npm ci`. It wants every platform's package of buf in the lock file, which is not
 * written with those that a registry lacks. That is the only thing that it may miss.
 */
function checkCleanInstall(inside: (command: string, ...args: readonly string[]) => string): void {
  try {
    inside('npm', 'ci', '--dry-run', '--prefer-offline', '--no-audit', '--no-fund')
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr)
    const missing = [...said.matchAll(/Missing: (\S+)@\S* from lock file/g)].map(([, name = '']) => name)
    if (missing.length === 0) throw error
    expect(missing.filter((name) => !name.startsWith('@bufbuild/buf-'))).to.deep.equal([])
    process.stdout.write(`      no npm ci, because the registry lacks ${missing.join(', ')}\n`)
  }
}

/**
 * Packages that have to be installed, and cannot be on every platform. A registry may lack those of platforms
 * that nobody here has.
 */
function boundToPlatform(lockFile: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as {
    packages: Record<string, { optional?: true; os?: readonly string[]; cpu?: readonly string[] }>
  }
  return Object.entries(packages)
    .filter(([, { optional, os, cpu }]) => optional !== true && (os !== undefined || cpu !== undefined))
    .map(([path]) => path)
}

/**
 * Offers the engine that this repository has, as its download would be: compiling it for each project takes
 * minutes.
 */
function packSqlite(to: string): void {
  const from = join(root, 'node_modules/sqlite3')
  const binary = 'build/Release/node_sqlite3.node'
  if (!existsSync(join(from, binary))) return
  const { version, binary: known } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    version: string
    binary: { napi_versions: readonly number[] }
  }
  const napi = Math.max(...known.napi_versions)
  mkdirSync(to)
  const name = `sqlite3-v${version}-napi-v${napi}-${process.platform}-${process.arch}.tar.gz`
  run({ cwd: from }, 'tar', '-czf', join(to, name), binary)
}

interface Place {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

const run = ({ cwd, env }: Place, command: string, ...args: readonly string[]): string => {
  const { NODE_ENV: _, NODE_OPTIONS: __, ...outer } = process.env
  return execFileSync(command, args, {
    cwd,
    env: { ...outer, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  })
}
