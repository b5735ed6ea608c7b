import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { testDatabase, type TestDatabase } from '../support/databases/test-database.js'
import { drilling } from '../support/drill.js'
import { canPack } from '../support/projects/packed-package.js'
import { packedProject } from '../support/projects/packed-project.js'
import { installNode } from '../support/running/installed-node.js'
import { serviceUrl } from '../support/running/services.js'

/** The lines of Node that `engines` has. A line that npm cannot bring is a failure. */
const NODES = ['20', '22', '24']
const PEERS = [
  'typeorm',
  '@bufbuild/protobuf',
  '@bufbuild/protovalidate',
  '@connectrpc/connect',
  'sqlite3',
  'pg',
  'mysql2',
]
const MIGRATIONS = ['--files', 'examples/widgets/migrations', '--module', 'widgets']
const ENTITIES = ['--entities', 'dist/examples/widgets/widget.js']

/**
 * The contract of repositories, of the entry `ashlar/testing`, for the example's repository on SQLite and in
 * memory.
 */
const CONTRACT = `
import { afterEach, beforeEach, describe, it } from 'node:test'
import { memoryRepositoryOf } from 'ashlar'
import { repositoryContract } from 'ashlar/testing'
import { widgetsDataSource } from './dist/examples/widgets/data-source.js'
import { Widget } from './dist/examples/widgets/widget.js'
import { WidgetRepository } from './dist/examples/widgets/widget-repository.js'

const make = (n) => ({ displayName: 'widget ' + n })
const change = { patch: { displayName: 'changed', size: 7 }, mask: ['display_name', 'size'] }
const framework = { describe, it, beforeEach, afterEach }
describe('on SQLite', () => {
  repositoryContract(async () => {
    const dataSource = await widgetsDataSource(':memory:').initialize()
    return { repository: new WidgetRepository(dataSource), make, change, close: () => dataSource.destroy() }
  }, framework)
})
class InMemory extends memoryRepositoryOf(Widget) {}
describe('in memory', () => {
  repositoryContract(() => ({ repository: new InMemory(), make, change }), framework)
})
`
/** What a server is made of, for the commands that load one. */
const SERVER = `
import { widgetServer } from './dist/examples/widgets/main.js'
export const server = await widgetServer({ database: ':memory:', grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' })
`

const describeDrill = drilling ? describe : describe.skip

/** The tarball that npm would publish, with bundles, and never `dist`. */
describeDrill('the packed package', () => {
  let folder: string
  let project: string

  before(function () {
    if (!canPack) this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-packed-'))
    project = packedProject(folder, PEERS)
    writeFileSync(join(project, 'contract.test.mjs'), CONTRACT)
    writeFileSync(join(project, 'server.mjs'), SERVER)
  })
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  for (const version of NODES)
    describe(`on Node ${version}`, () => {
      let node: string
      let database: TestDatabase | undefined

      const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}): string => {
        const { NODE_OPTIONS: _, NODE_ENV: __, ...rest } = process.env
        return execFileSync(node, [...args], {
          cwd: project,
          encoding: 'utf8',
          env: { ...rest, PATH: `${dirname(node)}:${rest.PATH ?? ''}`, ...env },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
      }
      const ashlar = (args: readonly string[]): string =>
        run(['node_modules/ashlar/bin/ashlar.js', ...args], { ASHLAR_DATABASE_URL: database?.url })

      before(async () => {
        if (process.version.startsWith(`v${version}.`)) node = process.execPath
        else ({ node } = installNode(version, mkdtempSync(join(folder, `node-${version}-`))))
        process.stdout.write(`      ${run(['--version'])}`)
        if (serviceUrl('postgres') !== undefined) database = await testDatabase('postgres')
      })
      after(() => database?.drop())

      for (const example of ['widgets', 'orders'])
        it(`runs the demo of ${example}`, () => {
          const addresses = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']
          const said = run(['dist/examples/demo.js', example, '--once', ...addresses])
          expect(said).to.include(`/v1/${example}`)
        })

      it('fulfils the contract of repositories', () => {
        const said = run(['--test', '--test-reporter=tap', 'contract.test.mjs'])
        expect(said).to.match(/^# fail 0$/m)
        expect(Number(/^# pass (\d+)$/m.exec(said)?.[1])).to.be.greaterThan(60)
      })

      it('has the help of each command', () => {
        const commands = join(project, 'node_modules/ashlar/dist/cli/commands')
        const names = readdirSync(commands, { recursive: true, encoding: 'utf8' })
          .filter((path) => path.endsWith('.js'))
          .map((path) => path.slice(0, -'.js'.length).split('/'))
        expect(names.length).to.be.greaterThan(30)
        for (const words of names)
          expect(ashlar([...words, '--help'])).to.include(`$ ashlar ${words.join(' ')}`)
        expect(run(['node_modules/ashlar/bin/idp.js', 'up', '--help'])).to.include('$ idp up')
      })

      it('reads the services and the server of a module', () => {
        for (const module of ['dist/examples/widgets/gen/widgets_pb.js', 'server.mjs']) {
          expect(ashlar(['authz', 'catalog', module])).to.include('GetWidget')
          expect(JSON.parse(ashlar(['openapi', module]))).to.have.nested.property('paths./v1/widgets')
        }
        expect(ashlar(['completion', 'bash'])).to.include('migrate')
      })

      it('writes a project', () => {
        const shop = join(mkdtempSync(join(folder, 'made-')), 'shop')
        ashlar(['new', shop, '--name', 'shop', '--database', 'sqlite', '--no-nest', '--auth', 'headers'])
        expect(readdirSync(shop)).to.include.members(['package.json', '.gitignore', 'proto', 'src', 'test'])
      })

      it('migrates a database', function () {
        if (database === undefined) return this.skip()
        ashlar(['migrate', 'lint', '--files', 'examples/widgets/migrations'])
        expect(ashlar(['migrate', 'plan', ...MIGRATIONS])).to.include('0002_widgets')
        expect(ashlar(['migrate', 'up', ...MIGRATIONS])).to.include('0002_widgets')
        expect(ashlar(['migrate', 'status', ...MIGRATIONS])).to.include('0002_widgets')
        ashlar(['migrate', 'verify', ...ENTITIES, ...MIGRATIONS])
        ashlar(['migrate', 'check', ...ENTITIES, ...MIGRATIONS])
        ashlar(['migrate', 'redo', '--yes', ...MIGRATIONS])
        ashlar(['migrate', 'down', '--yes', ...MIGRATIONS])
        expect(ashlar(['migrate', 'dry-run', '--yes', ...MIGRATIONS])).to.include('0002_widgets')
      })
    })
})
