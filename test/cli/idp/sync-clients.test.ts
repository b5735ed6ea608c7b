import { expect } from 'chai'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GUESSABLE } from '../../../cli/idp/clients.js'
import { drill } from '../../support/drill.js'
import { expectGolden } from '../../support/golden.js'
import {
  type DaemonRoute,
  type RouteDaemon,
  type RouteDaemonOptions,
  startRouteDaemon,
} from '../../support/servers/route-daemon.js'
import { type Ran, runCli, type RunOptions } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

const ROUTES: readonly DaemonRoute[] = [
  { host: 'shop.dev.test', upstream: 'http://127.0.0.1:3001', project: 'shop', ttl: '30s' },
  { host: 'shop.dev.test', path: '/api', upstream: 'http://127.0.0.1:3002', project: 'shop' },
  {
    host: 'admin.shop.dev.test',
    upstream: 'http://127.0.0.1:3003',
    project: 'shop',
    tile: { display_name: 'Shop', description: 'Buy: now', icon_url: 'https://shop.dev.test/i.svg' },
  },
  { host: 'orders-app.dev.test', upstream: 'http://127.0.0.1:3004' },
  { host: 'db.dev.test', upstream: '127.0.0.1:5432', protocol: 'tcp', project: 'shop-db' },
  { host: '10.0.0.5', upstream: 'http://10.0.0.5' },
]

const LOCAL = `apiVersion: devedge.infoblox.dev/v1alpha1
kind: Config
metadata:
  name: notes
spec:
  routes:
    - host: notes.dev.test
      upstream: http://127.0.0.1:3000
      tile:
        displayName: Notes
`
const SHELL = `apiVersion: devedge.infoblox.dev/v1alpha1
kind: Shell
metadata:
  name: desk
spec:
  host: desk.dev.test
  shellUpstream: http://127.0.0.1:4200
`
const OLD_FILE = '- client_id: old\n  client_secret: keep-me\n'

describe('idp clients sync', () => {
  let folder: string
  let daemon: RouteDaemon | undefined
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-sync-'))))
  afterEach(async () => {
    await daemon?.close()
    daemon = undefined
    chmodSync(folder, 0o755)
    rmSync(folder, { recursive: true, force: true })
  })

  const out = (): string => readFileSync(join(folder, 'idp-clients.yaml'), 'utf8')
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  const start = async (options: RouteDaemonOptions): Promise<RouteDaemon> => {
    daemon = await startRouteDaemon(options)
    return daemon
  }
  /** In this process, unless something is done to the process of the command. */
  const sync = (args: readonly string[] = [], { cwd = folder, env, ...process }: RunOptions = {}) => {
    const command = ['clients', 'sync', ...args]
    const options = { cwd, env: { ...daemon?.env, ...env } }
    return Object.keys(process).length === 0
      ? runCommand(command, { program: 'idp', ...options })
      : runCli('idp', command, { ...options, ...process })
  }
  const steady = ({ stdout }: Ran): string =>
    stdout.replaceAll(/the daemon at \S+(?=:)/g, 'the daemon').replace(GUESSABLE, '<guessable>')

  for (const over of ['unix', 'tcp'] as const)
    it(`lists the apps of the daemon over ${over} and of the local files`, async () => {
      await start({ over, routes: ROUTES })
      put('devedge.yaml', LOCAL)
      put('shell.yaml', SHELL)
      const ran = await sync()
      expect(ran.stderr).to.equal('')
      expect(ran.exit).to.equal(0)
      expectGolden('cli/idp-clients.yaml.txt', out())
      expectGolden('cli/sync-first.txt', steady(ran))
      expect(statSync(join(folder, 'idp-clients.yaml')).mode & 0o777).to.equal(0o600)
    })

  it('writes nothing the second time, and says so', async () => {
    await start({ routes: ROUTES })
    await sync()
    const before = statSync(join(folder, 'idp-clients.yaml'), { bigint: true })
    const again = await sync()
    const after = statSync(join(folder, 'idp-clients.yaml'), { bigint: true })
    expect([again.exit, again.stderr]).to.deep.equal([0, ''])
    expect(again.stdout).to.include('idp-clients.yaml already lists 3 clients: nothing was written')
    expect([after.ino, after.mtimeNs]).to.deep.equal([before.ino, before.mtimeNs])
  })

  it('closes a file that is right but open to others', async () => {
    await start({ routes: ROUTES })
    await sync()
    chmodSync(join(folder, 'idp-clients.yaml'), 0o644)
    const { exit, stderr } = await sync()
    expect([exit, stderr]).to.deep.equal([
      0,
      'note: idp-clients.yaml was readable by others: now only its owner can read it\n',
    ])
    expect(statSync(join(folder, 'idp-clients.yaml')).mode & 0o777).to.equal(0o600)
  })

  it('says which clients are new, changed and gone', async () => {
    await start({ routes: ROUTES })
    await sync()
    put('idp-clients.yaml', out().replace('name: Shop', 'name: Store').replaceAll('orders-app', 'gone-app'))
    const ran = await sync()
    expectGolden('cli/sync-changes.txt', steady(ran))
  })

  it('replaces what is not a list of clients, and says so', async () => {
    await start({ routes: ROUTES })
    put('idp-clients.yaml', '- client_id: [\n')
    const { exit, stderr } = await sync()
    expect([exit, stderr]).to.deep.equal([
      0,
      'note: idp-clients.yaml was not a list of clients: all of it is replaced\n',
    ])
  })

  it('uses local files alone without a daemon, and says so', async () => {
    put('devedge.yaml', LOCAL)
    const { exit, stdout, stderr } = await sync([], { env: { DEVEDGE_HOME: join(folder, 'no-daemon') } })
    expect(exit).to.equal(0)
    expect(stderr).to.equal(
      `note: no daemon listens at ${folder}/no-daemon/devedged.sock or 127.0.0.1:1: only local files are used; start it (devedged, or "npx ashlar-idp edge") to include its apps\n`,
    )
    expect(stdout).to.equal(
      `from devedge.yaml: notes\n  new      notes\nidp-clients.yaml now lists 1 client. ${GUESSABLE}\n`,
    )
  })

  it('uses local files alone when the daemon has no routes, and says so', async () => {
    await start({})
    put('devedge.yaml', LOCAL)
    const { exit, stdout, stderr } = await sync()
    expect(exit).to.equal(0)
    expect(stderr).to.match(/^note: the daemon at \S+ has no routes: only local files are used\n$/)
    expect(stdout).to.match(/^from the daemon at \S+: no apps\nfrom devedge\.yaml: notes\n/)
  })

  it('reads the file of --config in place of the usual ones, and writes to --out', async () => {
    put('devedge.yaml', LOCAL)
    put('my-shell.yaml', SHELL)
    mkdirSync(join(folder, 'sub'))
    const { exit, stdout } = await sync(['--config', 'my-shell.yaml', '--out', 'sub/clients.yaml'])
    expect(exit).to.equal(0)
    expect(stdout).to.equal(
      `from my-shell.yaml: desk\n  new      desk\nsub/clients.yaml now lists 1 client. ${GUESSABLE}\n`,
    )
    expect(readdirSync(join(folder, 'sub'))).to.deep.equal(['clients.yaml'])
  })

  it('notes every key it ignores', async () => {
    put('devedge.yaml', LOCAL.replace('displayName', 'display_name'))
    const { exit, stderr } = await sync()
    expect(exit).to.equal(0)
    expect(stderr).to.match(
      /^note: devedge\.yaml: spec\.routes\[0\]\.tile\.display_name .*\bdisplayName\b.*$/m,
    )
  })

  it('leaves out and names what cannot be written, and writes the others', async () => {
    const good = { host: 'good.dev.test', upstream: 'http://127.0.0.1:1' }
    await start({
      routes: [
        { ...good, host: 'nodot' },
        { ...good, host: 'https://url.dev.test/' },
        { ...good, host: 'ctl.dev.test', project: 'a: [\n- client_id: root' },
        { ...good, host: 'js.dev.test', tile: { launch_url: 'javascript:alert(1)' } },
        good,
      ],
    })
    const { exit, stderr } = await sync()
    expect(exit).to.equal(0)
    expect(stderr.match(/an app is left out/g)).to.have.length(4)
    for (const name of ['nodot', 'url.dev.test', 'ctl.dev.test', 'js.dev.test'])
      expect(stderr).to.include(name)
    expect(out().match(/client_id: .*/g)).to.deep.equal(['client_id: good'])
  })

  it('notes every key it ignores, also where it then fails', async () => {
    await start({})
    put(
      'devedge.yaml',
      `${LOCAL}    - { hots: b.dev.test, upstream: x, tile: { titel: X } }\n    - { host: c.dev.test, upstream: "http://127.0.0.1:1", upstraem: y }\n`,
    )
    const { exit, stderr } = await sync()
    expect(exit).to.equal(2)
    for (const key of ['hots', 'titel', 'upstraem']) expect(stderr).to.match(new RegExp(`note: .*\\.${key} `))
    const { stdout } = await sync(['--json'])
    expect((JSON.parse(stdout) as { notes: readonly string[] }).notes).to.have.length(3)
  })

  it('keeps a symbolic link to the clients file', async () => {
    put('devedge.yaml', LOCAL)
    put('real.yaml', OLD_FILE)
    symlinkSync('real.yaml', join(folder, 'idp-clients.yaml'))
    expect((await sync()).exit).to.equal(0)
    expect(readFileSync(join(folder, 'real.yaml'), 'utf8')).to.include('client_id: notes')
  })

  describe('--check', () => {
    it('exits with 1 and writes nothing when the file differs', async () => {
      put('devedge.yaml', LOCAL)
      put('idp-clients.yaml', OLD_FILE)
      const { exit, stdout } = await sync(['--check'])
      expect(exit).to.equal(1)
      expect(stdout).to.equal(
        'from devedge.yaml: notes\n  new      notes\n  gone     old\nidp-clients.yaml differs: a sync would make it list 1 client\n',
      )
      expect(out()).to.equal(OLD_FILE)
    })

    it('exits with 1 when there is no file, and makes none', async () => {
      put('devedge.yaml', LOCAL)
      expect((await sync(['--check'])).exit).to.equal(1)
      expect(existsSync(join(folder, 'idp-clients.yaml'))).to.equal(false)
    })

    it('exits with 0 when the file is right', async () => {
      put('devedge.yaml', LOCAL)
      await sync()
      expect((await sync(['--check'])).exit).to.equal(0)
    })
  })

  describe('--json', () => {
    it('prints one object, without a secret', async () => {
      put('devedge.yaml', LOCAL)
      put('idp-clients.yaml', OLD_FILE)
      const { exit, stdout } = await sync(['--json', '--check'])
      expect(exit).to.equal(1)
      expect(stdout).to.not.match(/secret|keep-me/)
      expect(JSON.parse(stdout)).to.deep.include({
        out: 'idp-clients.yaml',
        state: 'differs',
        clients: ['notes'],
        added: ['notes'],
        changed: [],
        removed: ['old'],
        sources: [{ source: 'devedge.yaml', apps: ['notes'] }],
      })
    })

    it('prints a failure as an object too', async () => {
      const { exit, stdout, stderr } = await sync(['--json', '--config', 'none.yaml'])
      expect(exit).to.equal(2)
      const message = stderr.slice('idp: '.length, -1)
      expect(JSON.parse(stdout)).to.deep.equal({ error: { message, exit: 2 } })
    })
  })

  const plain = (text: string): RouteDaemonOptions => ({ mode: (response) => void response.end(text) })
  const BAD: readonly {
    readonly name: string
    readonly daemon?: RouteDaemonOptions
    readonly files?: Readonly<Record<string, string>>
    readonly args?: readonly string[]
    readonly exit: number
    readonly says: RegExp
  }[] = [
    {
      name: 'no daemon and no file',
      exit: 2,
      says: /no app was found: no daemon is running \(start devedged, or "npx ashlar-idp edge"\) and \S+ has no devedge\.yaml or shell\.yaml; start your apps, or name a file with --config; idp-clients\.yaml is left as it was/,
    },
    {
      name: 'a daemon without routes',
      daemon: {},
      exit: 2,
      says: /no app was found: the daemon at \S+ has no routes and/,
    },
    {
      name: 'TCP routes only',
      daemon: { routes: [{ host: 'db', upstream: '127.0.0.1:1', protocol: 'tcp' }] },
      exit: 2,
      says: /no app was found: all 1 routes are TCP/,
    },
    {
      name: 'a daemon that speaks no HTTP',
      daemon: { mode: 'garbage' },
      files: { 'devedge.yaml': LOCAL },
      exit: 3,
      says: /devedged\.sock/,
    },
    {
      name: 'a daemon that hangs up',
      daemon: { mode: 'hanging-up' },
      files: { 'devedge.yaml': LOCAL },
      exit: 3,
      says: /devedged\.sock/,
    },
    {
      name: 'a daemon that returns no JSON',
      daemon: plain('<html>'),
      files: { 'devedge.yaml': LOCAL },
      exit: 3,
      says: /devedged\.sock/,
    },
    {
      name: 'a registered host without a dot',
      daemon: { routes: [{ host: 'web', upstream: 'http://127.0.0.1:1' }] },
      exit: 2,
      says: /none of the apps can be written: an app is left out: .*: "web"/,
    },
    {
      name: 'two hosts with one first label',
      daemon: {
        routes: [
          { host: 'web.a.test', upstream: 'http://127.0.0.1:1' },
          { host: 'web.b.test', upstream: 'http://127.0.0.1:1' },
        ],
      },
      exit: 2,
      says: /\bweb\.a\.test .*\bweb\.b\.test .*"web"/,
    },
    {
      name: 'a missing config',
      args: ['--config', 'none.yaml'],
      exit: 2,
      says: /\bnone\.yaml\b/,
    },
    { name: 'a folder as config', args: ['--config', '.'], exit: 2, says: /^idp: \. / },
    { name: 'an empty config', files: { 'devedge.yaml': '' }, exit: 2, says: /devedge\.yaml/ },
    {
      name: 'a half-written config',
      files: { 'devedge.yaml': LOCAL.slice(0, LOCAL.indexOf('  routes:')) },
      exit: 2,
      says: /devedge\.yaml: spec /,
    },
    {
      name: 'a config cut in its middle',
      files: { 'devedge.yaml': LOCAL.slice(0, LOCAL.indexOf('      upstream')) },
      exit: 2,
      says: /devedge\.yaml: spec\.routes\[0\]\.upstream /,
    },
    {
      name: 'broken YAML',
      files: { 'devedge.yaml': 'a: [' },
      exit: 2,
      says: /devedge\.yaml/,
    },
    {
      name: 'an unknown kind',
      files: { 'devedge.yaml': LOCAL.replace('Config', 'Confg') },
      exit: 2,
      says: /"Confg" .*\bConfig\b/,
    },
    {
      name: 'a local host without a dot',
      files: { 'devedge.yaml': LOCAL.replace('notes.dev.test', 'notes') },
      exit: 2,
      says: /spec\.routes\[0\]\.host: "notes"/,
    },
    {
      name: 'an upstream that is not a URL',
      files: { 'devedge.yaml': LOCAL.replace('http://', '') },
      exit: 2,
      says: /spec\.routes\[0\]\.upstream: "127\.0\.0\.1:3000"/,
    },
    {
      name: '--out in a missing folder',
      files: { 'devedge.yaml': LOCAL },
      args: ['--out', 'none/c.yaml'],
      exit: 5,
      says: /none\/c\.yaml/,
    },
    {
      name: '--out through a file',
      files: { 'devedge.yaml': LOCAL },
      args: ['--out', 'devedge.yaml/c.yaml'],
      exit: 5,
      says: /devedge\.yaml\/c\.yaml/,
    },
    {
      name: '--out that is a folder',
      files: { 'devedge.yaml': LOCAL },
      args: ['--out', '.'],
      exit: 5,
      says: /\. is not a file: name a file to write/,
    },
    {
      name: '--out that is empty',
      files: { 'devedge.yaml': LOCAL },
      args: ['--out='],
      exit: 2,
      says: /--out is empty: name a path/,
    },
    {
      name: 'an unknown flag',
      args: ['--cofnig', 'x'],
      exit: 2,
      says: /unknown flag --cofnig, did you mean --config\?/,
    },
    {
      name: 'an argument too many',
      args: ['now'],
      exit: 2,
      says: /\bclients sync now\b/,
    },
    { name: 'a flag without its value', args: ['--config'], exit: 2, says: /--config expects a value/ },
  ]
  for (const { name, daemon: options, files = {}, args = [], exit, says } of BAD)
    it(`ends with ${exit}, one line and the old file whole: ${name}`, async () => {
      if (options !== undefined) await start(options)
      for (const [file, text] of Object.entries(files)) put(file, text)
      put('idp-clients.yaml', OLD_FILE)
      const ran = await sync(args)
      expect(ran.stderr)
        .to.match(/^idp: [^\n]+\n$/)
        .and.match(says)
      expect([ran.exit, ran.stdout]).to.deep.equal([exit, ''])
      expect(out()).to.equal(OLD_FILE)
      expect(readdirSync(folder).filter((file) => file.endsWith('.tmp'))).to.deep.equal([])
    })

  it('gives a hung daemon five seconds, and one that never ends its response too', async () => {
    const daemons = await Promise.all(
      (['hung', 'dripping'] as const).map((mode) => startRouteDaemon({ mode })),
    )
    put('devedge.yaml', LOCAL)
    put('idp-clients.yaml', OLD_FILE)
    // At the same time, so in processes of their own.
    const all = await Promise.all(
      daemons.map(({ env }) => runCli('idp', ['clients', 'sync'], { cwd: folder, env })),
    )
    await Promise.all(daemons.map((one) => one.close()))
    for (const { exit, stdout, stderr } of all) {
      expect(stderr).to.match(/^idp: [^\n]*devedged\.sock[^\n]* 5 s\b[^\n]*\n$/)
      expect([exit, stdout]).to.deep.equal([3, ''])
    }
    expect(out()).to.equal(OLD_FILE)
  })

  it('leaves the old file whole when the disk takes only part of the new one', async () => {
    put('devedge.yaml', LOCAL)
    put('idp-clients.yaml', OLD_FILE)
    const { exit, stderr } = await sync([], { under: ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh'] })
    expect(stderr).to.match(/^idp: idp-clients\.yaml [^\n]+\n$/)
    expect(exit).to.equal(5)
    expect(out()).to.equal(OLD_FILE)
    expect(readdirSync(folder).sort()).to.deep.equal(['devedge.yaml', 'idp-clients.yaml'])
  })

  it('leaves the old file or the new one, each whole, when it is killed while it writes', async () => {
    const hosts = Array.from({ length: 300 }, (_, index) => `app-${index}.dev.test`)
    const routes = hosts
      .map((host) => `    - { host: ${host}, upstream: "http://127.0.0.1:3000" }\n`)
      .join('')
    put('devedge.yaml', `${LOCAL.slice(0, LOCAL.indexOf('metadata'))}spec:\n  routes:\n${routes}`)
    await sync()
    const whole = out()
    for (let kill = 0; kill < drill(6, 100); kill++) {
      put('idp-clients.yaml', OLD_FILE)
      const watcher = new AbortController()
      const { exit } = await sync([], {
        started: (child) =>
          void watch(folder, { signal: watcher.signal }, () =>
            setTimeout(() => child.kill('SIGKILL'), kill % 3),
          ),
      })
      watcher.abort()
      expect(exit).to.be.oneOf([null, 0])
      expect(out()).to.be.oneOf([OLD_FILE, whole])
    }
    expect((await sync()).exit).to.equal(0)
    put('idp-clients.yaml', OLD_FILE)
    await sync()
    expect(readdirSync(folder).sort()).to.deep.equal(['devedge.yaml', 'idp-clients.yaml'])
  })

  it('leaves the old file whole in a folder that may not be written', async function () {
    const uid = process.getuid?.() === 0 ? 65_534 : undefined
    const asUser = uid === undefined ? {} : { uid }
    if ((await runCli('idp', ['--version'], asUser)).exit !== 0) this.skip()
    put('devedge.yaml', LOCAL)
    put('idp-clients.yaml', OLD_FILE)
    chmodSync(join(folder, 'idp-clients.yaml'), 0o644)
    chmodSync(folder, 0o555)
    const { exit, stderr } = await sync([], asUser)
    expect(stderr).to.match(
      /^idp: idp-clients\.yaml [^\n]*: it cannot be written here; choose another folder or change the permissions\n$/,
    )
    expect(exit).to.equal(5)
    expect(out()).to.equal(OLD_FILE)
  })

  it('says that a config may not be read', async function () {
    const uid = process.getuid?.() === 0 ? 65_534 : undefined
    const asUser = uid === undefined ? {} : { uid }
    if ((await runCli('idp', ['--version'], asUser)).exit !== 0) this.skip()
    put('closed.yaml', LOCAL)
    chmodSync(join(folder, 'closed.yaml'), 0o000)
    chmodSync(folder, 0o755)
    const { exit, stderr } = await sync(['--config', 'closed.yaml'], asUser)
    expect([exit, stderr]).to.deep.equal([2, 'idp: closed.yaml may not be read: check its permissions\n'])
  })
})
