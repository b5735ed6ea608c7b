import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Unavailable } from '../../../lib/errors.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Lease, Statement } from '../../../lib/persistence/engines/executor/executor.js'
import {
  HotDataSource,
  type HotEvents,
  type HotOptions,
} from '../../../lib/persistence/hot-reload/hot-data-source.js'
import { rejection } from '../../support/rejection.js'
import { compiled } from '../../support/root.js'
import { HotSecret } from './secret.js'
import { type Engine, hotServer, type HotServer } from './hot-server.js'

const WHO: Readonly<Record<Engine, Statement>> = {
  postgres: { name: 'hot_who', text: 'SELECT current_user' },
  mysql: { name: 'hot_who', text: 'SELECT user()' },
}

for (const engine of ['postgres', 'mysql'] as const)
  describe(`HotDataSource on ${engine}`, () => {
    let server: HotServer
    let secret: HotSecret
    let dataSource: HotDataSource
    let a: string
    let b: string

    before(async function () {
      const found = await hotServer(engine)
      if (found === undefined) return this.skip()
      server = found
    })
    after(() => server?.drop())
    beforeEach(async () => {
      a = await server.user('a', 'hunter2')
      b = await server.user('b', 'hunter3')
    })
    afterEach(async () => {
      if (dataSource.isInitialized) await dataSource.destroy()
      secret.remove()
    })

    const open = async (options: Partial<HotOptions> = {}) => {
      secret = new HotSecret(a)
      dataSource = new HotDataSource({
        dsn: secret.dsn(engine),
        poolSize: 2,
        debounceMs: 20,
        reloadLogger: quiet,
        ...options,
      })
      await dataSource.initialize()
      return executorOf(dataSource)
    }
    const next = <E extends keyof HotEvents>(event: E): Promise<HotEvents[E]> =>
      new Promise((resolve) => {
        const stop = dataSource.on(event, (told) => {
          stop()
          resolve(told)
        })
      })
    const after_ = async <E extends keyof HotEvents>(event: E, change: () => void): Promise<HotEvents[E]> => {
      const told = next(event)
      change()
      return told
    }
    const who = async (on: Pick<Lease, 'run'> = executorOf(dataSource)) =>
      String((await on.run(WHO[engine], [])).rows[0]![0])
        .replace(/@.*/, '')
        .slice(-1)

    const changes: readonly (readonly [how: string, change: (text: string) => void])[] = [
      ['is written in place', (text) => secret.rewrite(text)],
      ['is renamed over', (text) => secret.renameOver(text)],
      ['is a link that is swapped', (text) => secret.swapLink(text)],
    ]
    for (const [how, change] of changes)
      it(`follows a file that ${how}`, async () => {
        await open()
        expect(await who()).to.equal('a')
        const [{ dsn, previous }] = await Promise.all([
          after_('reload', () => change(`${b}\n`)),
          next('drained'),
        ])
        expect(await who()).to.equal('b')
        expect([dsn, previous].map((text) => text.replace(/@.*/, '').slice(-1))).to.deep.equal(['b', 'a'])
        expect(`${dsn} ${previous}`).to.not.match(/hunter/)
        await server.gone('a')
      })

    it('lets transactions of the old DSN end, and gives its waiters sessions of the new one', async () => {
      const database = await open()
      const leases = [await database.lease(), await database.lease()]
      for (const lease of leases) await lease.control('BEGIN')
      const waiting = Array.from({ length: 20 }, () => who())
      await after_('reload', () => secret.rewrite(b))
      expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set(['b']))
      expect(await Promise.all(leases.map(who))).to.deep.equal(['a', 'a'])
      expect(await server.sessions()).to.be.at.most(4)
      const drained = next('drained')
      for (const lease of leases) {
        await lease.control('COMMIT')
        lease.release()
      }
      await drained
      await server.gone('a')
    })

    it('cancels a statement of the old DSN after the move', async () => {
      const database = await open()
      const lease = await database.lease()
      await after_('reload', () => secret.rewrite(b))
      const text = engine === 'postgres' ? 'SELECT pg_sleep(60)' : 'SELECT sleep(60)'
      const running = lease.run({ name: 'hot_sleep', text }, [], { signal: AbortSignal.timeout(100) })
      const outcome = await running.catch((error: unknown) => error)
      // MariaDB answers an interrupted sleep() with 1 instead of an error.
      if (engine === 'postgres') expect(outcome).to.have.property('code', 'DEADLINE_EXCEEDED')
      expect(await who(lease)).to.equal('a')
      lease.release()
    })

    it('keeps the old DSN and says why when the file holds none that works', async () => {
      await open()
      const check = dataSource.readinessCheck()
      expect(check.name).to.equal('dsn')
      await check.check()
      const dead = a.replace(/@[^/]*/, '@127.0.0.1:1')
      const cases: readonly (readonly [content: string, reason: RegExp])[] = [
        ['', /dsn is empty/],
        ['hunter2', new RegExp(`a ${engine} DSN begins with`)],
        [dead, /@127\.0\.0\.1:1\/.* is not used: .*ECONNREFUSED/],
        [`${a}_missing`, /_missing is not used/],
      ]
      for (const [content, expected] of cases) {
        const { reason } = await after_('rejected', () => secret.rewrite(content))
        expect(reason)
          .to.match(expected)
          .and.not.match(/hunter/)
        await rejection(Promise.resolve(check.check()), Unavailable, content === '' ? /is empty/ : expected)
        expect(await who()).to.equal('a')
      }
      const missing = after_('rejected', () => secret.remove())
      expect((await missing).reason).to.match(/cannot be read \(ENOENT\)/)
      await rejection(Promise.resolve(check.check()), Unavailable, /ENOENT/)
    })

    it('is ready again when the file is back at the DSN in use', async () => {
      let restored: () => void
      const isRestored = new Promise<void>((resolve) => (restored = resolve))
      await open({
        reloadLogger: { warn: () => {}, info: (_, text) => void (text.includes('again') && restored()) },
      })
      await after_('rejected', () => secret.truncate())
      secret.rewrite(a)
      await isRestored
      await dataSource.readinessCheck().check()
      expect(await who()).to.equal('a')
    })

    it('tries a DSN again whose user comes later than the file', async () => {
      await open()
      await server.lockOut('b')
      await after_('rejected', () => secret.rewrite(b))
      await after_('reload', () => void server.user('b', 'hunter3'))
      expect(await who()).to.equal('b')
    })

    it('lets callers wait for the file when the login is refused before it is written', async () => {
      const database = await open()
      const held = await database.lease()
      await server.lockOut('a')
      const leases = [database.lease(), database.lease()]
      await after_('reload', () => secret.rewrite(b))
      const got = await Promise.all(leases)
      expect(await who(got[1])).to.equal('b')
      for (const lease of [held, ...got]) lease.release()
    })

    it('says that the login was refused when no other DSN comes', async () => {
      const database = await open({ loginGraceMs: 300 })
      const held = [await database.lease()]
      await server.lockOut('a')
      held.push(...(await Promise.all([database.lease()].map((lease) => lease.catch(() => held[0]!)))))
      await rejection(database.lease(), Unavailable, /cannot be reached/)
      for (const lease of new Set(held)) lease.release()
      expect(await who()).to.equal('a')
    })

    it('leaves no session behind when it is destroyed, and can be initialized again', async () => {
      await open()
      const leases = await Promise.all([executorOf(dataSource).lease(), executorOf(dataSource).lease()])
      const waiting = rejection(who(), Unavailable, /cannot be reached/)
      const destroyed = dataSource.destroy()
      await waiting
      for (const lease of leases) lease.release()
      await destroyed
      await server.gone()
      await dataSource.initialize()
      expect(await who()).to.equal('a')
    })

    it('reads a file in whose folder something happens all the time', async () => {
      await open({ debounceMs: 50 })
      const noise = setInterval(() => secret.makeNoise(), 10)
      try {
        await after_('reload', () => secret.rewrite(b))
      } finally {
        clearInterval(noise)
      }
      expect(await who()).to.equal('b')
    })

    it('reads a file of which the system tells nothing, and moves on from what never responds', async () => {
      const [port, connected, close] = await mute()
      try {
        // Longer than the test waits: only the regular reading is left.
        await open({ debounceMs: 1_000_000, recheckMs: 50 })
        secret.rewrite(b.replace(/@[^/]*/, `@127.0.0.1:${port}`))
        await connected
        await after_('reload', () => secret.rewrite(b))
        expect(await who()).to.equal('b')
      } finally {
        close()
      }
    })

    it('is destroyed while it waits for a response of another DSN', async () => {
      const [port, connected, close] = await mute()
      try {
        await open()
        secret.rewrite(b.replace(/@[^/]*/, `@127.0.0.1:${port}`))
        await connected
        await dataSource.destroy()
        await server.gone()
      } finally {
        close()
      }
    })

    it('closes what is idle, and opens it again', async () => {
      const idle = engine === 'postgres' ? { idleTimeoutMillis: 50 } : { idleTimeout: 50, maxIdle: 0 }
      await open({ extra: idle })
      await server.gone('a')
      expect(await who()).to.equal('a')
    })

    it('is not ready while the server refuses the login, and is when it lets in again', async () => {
      const database = await open({ loginGraceMs: 50 })
      const held = await database.lease()
      await server.lockOut('a')
      await rejection(database.lease(), Unavailable, /cannot be reached/)
      const check = dataSource.readinessCheck('db')
      await rejection(Promise.resolve(check.check()), Unavailable, /rejects the login/)
      await server.user('a', 'hunter2')
      // Nobody asks for a session: it finds out by itself.
      while (
        await check.check().then(
          () => false,
          () => true,
        )
      )
        await pause(20)
      held.release()
    })

    it('lets its process end once it is destroyed', async () => {
      secret = new HotSecret(a)
      const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], {
        env: { ...process.env, HOT_DSN: secret.dsn(engine), HOT_LIB: join(compiled, 'lib', 'index.js') },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'exit')
      for await (const line of child.stdout.setEncoding('utf8')) if (line === 'opened\n') secret.rewrite(b)
      expect(await ended).to.deep.equal([0, null])
      await server.gone()
      dataSource = new HotDataSource({ dsn: a })
    })

    it('shows no password to who prints it', async () => {
      await open()
      expect(inspect(dataSource, { depth: Infinity, showHidden: true })).to.not.contain('hunter')
    })

    it('says at the start what is wrong with the file', async () => {
      secret = new HotSecret('')
      dataSource = new HotDataSource({ dsn: secret.dsn(engine) })
      await rejection(dataSource.initialize(), Unavailable, /is empty/)
      secret.rewrite('hunter2')
      await rejection(dataSource.initialize(), TypeError, new RegExp(`^DSN: a ${engine} DSN begins with`))
    })

    it('tells what opens sessions by itself the string of the file', async () => {
      secret = new HotSecret(a)
      dataSource = new HotDataSource({ dsn: secret.dsn(engine), password: () => 'a token' })
      const told = new URL(await dataSource.connectionString())
      expect([told.username, told.password]).to.deep.equal([new URL(a).username, 'a%20token'])
      dataSource = new HotDataSource({ dsn: secret.dsn(engine) })
      expect(await dataSource.connectionString()).to.equal(a)
      secret.rewrite(b)
      expect(await dataSource.connectionString()).to.equal(b)
    })

    it('takes a DSN itself, and is ready', async () => {
      secret = new HotSecret(a)
      dataSource = await new HotDataSource({ dsn: a }).initialize()
      expect(await who()).to.equal('a')
      await dataSource.readinessCheck().check()
    })
  })

/** Opens, moves, and is destroyed; what is left open keeps it from ending. */
const SCRIPT = `
  const { HotDataSource } = await import(process.env.HOT_LIB)
  const dataSource = new HotDataSource({ dsn: process.env.HOT_DSN, reloadLogger: { info() {}, warn() {} } })
  await dataSource.initialize()
  const moved = new Promise((resolve) => dataSource.on('reload', resolve))
  process.stdout.write('opened\\n')
  await moved
  await dataSource.query('SELECT 1')
  await dataSource.destroy()
`

/** A server that takes connections and says nothing. */
async function mute(): Promise<[port: number, connected: Promise<unknown>, close: () => void]> {
  const silent = createServer((socket) => void socket.on('error', () => {}))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  return [(silent.address() as AddressInfo).port, once(silent, 'connection'), () => void silent.close()]
}

const quiet = { info: () => {}, warn: () => {} }

describe('HotDataSource', () => {
  const refused: readonly (readonly [name: string, options: object, why: RegExp])[] = [
    ['SQLite', { dsn: 'fsnotify://sqlite/etc/dsn' }, /SqliteDataSource/],
    ['a host beside the DSN', { dsn: 'fsnotify://mysql/etc/dsn', host: 'db', url: '' }, /remove url, host/],
    ['a relative path', { dsn: 'fsnotify://postgres/../dsn' }, /must not contain \. or \.\. segments/],
    ['what is no DSN', { dsn: 'hunter2' }, /^DSN: begin it with/],
  ]
  for (const [name, options, why] of refused)
    it(`refuses ${name}`, () => {
      expect(() => new HotDataSource(options as HotOptions)).to.throw(TypeError, why)
    })
})
