import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServerBuilder } from '../../../lib/server/index.js'
import { permissionCatalog } from '../../../lib/server/permission-catalog.js'
import { EchoService, SpecimenService, UndeclaredService } from '../../support/gen/specimens_pb.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import type { Ran } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'
import { partly } from '../../support/servers/server.js'

const GENERATED = join(compiled, 'examples', 'widgets', 'gen', 'widgets_pb.js')
const SERVED = join(compiled, 'test', 'support', 'entities', 'served-widgets.js')

describe('ashlar authz catalog', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-authz-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const catalog = (...args: readonly string[]): Promise<Ran> =>
    runCommand(['authz', 'catalog', ...args], { cwd: folder })

  for (const format of ['table', 'json', 'markdown'])
    it(`prints generated services as ${format}`, async () => {
      const { exit, stdout, stderr } = await catalog(GENERATED, '--format', format)
      expect([exit, stderr]).to.deep.equal([0, ''])
      expectGolden(`cli/authz-catalog-${format}.txt`, stdout)
    })

  it('prints the services of a builder that a function makes, with health', async () => {
    const { exit, stdout } = await catalog(SERVED)
    expect(exit).to.equal(0)
    expectGolden('cli/authz-catalog-builder.txt', stdout)
  })

  it('says with --check whether a file holds the catalog, byte for byte', async () => {
    const file = join(folder, 'permissions.md')
    const args = [GENERATED, '--format', 'markdown', '--check', file]
    const missing = await catalog(...args)
    expect([missing.exit, missing.stdout]).to.deep.equal([1, ''])
    expect(missing.stderr)
      .to.include('permissions.md does not contain the catalog')
      .and.include('--format markdown')
    const { stdout } = await catalog(GENERATED, '--format', 'markdown')
    writeFileSync(file, stdout)
    expect(await catalog(...args)).to.include({ exit: 0, stdout: '', stderr: '' })
    writeFileSync(file, stdout.replace('`delete`', '`remove`'))
    expect((await catalog(...args)).exit).to.equal(1)
  })

  it('gives --json the permissions', async () => {
    const { permissions } = JSON.parse((await catalog(GENERATED, '--json')).stdout) as {
      permissions: object[]
    }
    expect(permissions).to.have.length(10)
    expect(permissions[0]).to.deep.equal({
      service: 'widgets.v1.WidgetService',
      method: 'BatchDeleteWidgets',
      verb: 'delete',
      resource: 'widget',
      public: false,
      declared: true,
    })
  })

  const refused: readonly (readonly [string, readonly string[], string])[] = [
    ['a module that is not there', ['nowhere.js'], 'cannot be loaded'],
    ['a module in TypeScript', ['nowhere.ts'], 'name the compiled file'],
    ['a module that serves nothing', [join(compiled, 'test/support/root.js')], 'exports no ServerBuilder'],
    ['an export that is not there', [SERVED, '--export', 'gone'], 'exports no gone: it has'],
    ['a function that fails', [SERVED, '--export', 'failing'], 'failing() of'],
    ['an empty file to check', [GENERATED, '--check', ''], '--check is empty'],
  ]
  for (const [what, args, says] of refused)
    it(`refuses ${what}`, async () => {
      const { exit, stdout, stderr } = await catalog(...args)
      expect([exit, stdout, stderr.trim().split('\n').length]).to.deep.equal([2, '', 1])
      expect(stderr).to.include(says)
    })

  for (const command of ['authz', 'authz catalog', 'security-check'])
    it(`shows the way: ${command}`, async () => {
      const { stdout } = await runCommand([...command.split(' '), '--help'])
      expectGolden(`cli/help-ashlar-${command.replaceAll(' ', '-')}.txt`, stdout)
    })
})

describe('permissionCatalog', () => {
  it('has the rules and the recorded methods of a server, and what is undeclared', () => {
    const server = new ServerBuilder({ grpcAddr: ':0' })
      .register(UndeclaredService, { lurk: () => ({}) })
      .rules({ method: '/other.v1.Other/Call', verb: 'call', resource: 'other' })
      .build()
    server.recordMethods('/other.v1.Other/Call', '/other.v1.Other/Call')
    const shown = permissionCatalog(server).map(
      ({ service, method, verb, public: isPublic, declared }) =>
        `${service} ${method} ${verb} ${String(isPublic)} ${String(declared)}`,
    )
    expect(shown.filter((line) => !line.startsWith('grpc.'))).to.deep.equal([
      'other.v1.Other Call call false true',
      'specimens.v1.UndeclaredService Lurk  false false',
    ])
  })

  it('comes in the same order, whatever order the services come in, each once', () => {
    const forth = permissionCatalog([EchoService, SpecimenService])
    const back = permissionCatalog([SpecimenService, EchoService, SpecimenService])
    expect(back).to.deep.equal(forth)
    const server = new ServerBuilder({ grpcAddr: ':0' })
      .register(SpecimenService, partly(SpecimenService, {}))
      .register(EchoService, partly(EchoService, {}))
      .build()
    const own = permissionCatalog(server).filter(({ service }) => service.startsWith('specimens.'))
    expect(own).to.deep.equal(forth)
  })
})
