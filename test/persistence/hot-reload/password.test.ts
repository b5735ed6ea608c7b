import { expect } from 'chai'
import { inspect } from 'node:util'
import { Unavailable } from '../../../lib/errors.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { HotDataSource, type HotOptions } from '../../../lib/persistence/hot-reload/hot-data-source.js'
import type { PasswordCallback } from '../../../lib/persistence/hot-reload/driver.js'
import { rejection } from '../../support/rejection.js'
import { HotSecret } from './secret.js'
import { hotServer, type HotServer } from './hot-server.js'

for (const engine of ['postgres', 'mysql'] as const)
  describe(`a password callback on ${engine}`, () => {
    let server: HotServer
    let dataSource: HotDataSource | undefined
    let secret: HotSecret | undefined
    let dsn: string

    before(async function () {
      const found = await hotServer(engine, { checksPasswords: true })
      if (found === undefined) return this.skip()
      server = found
    })
    after(() => server?.drop())
    beforeEach(async () => {
      dsn = (await server.user('a', 'nobody knows')).replace('nobody%20knows', 'hunter2')
    })
    afterEach(async () => {
      if (dataSource?.isInitialized === true) await dataSource.destroy()
      secret?.remove()
      dataSource = secret = undefined
    })

    const source = (password: PasswordCallback, options: Partial<HotOptions> = {}) =>
      (dataSource = new HotDataSource({ dsn, poolSize: 3, password, reloadLogger: quiet, ...options }))

    it('is asked for every session, and the newest token lets it in', async () => {
      const tokens: string[] = []
      const made = source(async ({ user, host, port, database }) => {
        expect([user.slice(-2), host, typeof port]).to.deep.equal(['_a', '127.0.0.1', 'number'])
        expect(user.startsWith(database)).to.equal(true)
        const token = `hunter-${tokens.length}: ?&%/@=`
        tokens.push(token)
        // The one before is of no use any more.
        await server.user('a', token)
        return token
      })
      await made.initialize()
      const database = executorOf(made)
      const leases = []
      for (let i = 0; i < 3; i++) leases.push(await database.lease())
      expect(tokens).to.have.lengthOf(3)
      for (const lease of leases) lease.release()
      await database.run(ONE, [])
      expect(tokens).to.have.lengthOf(3)
      expect(inspect(made, { depth: Infinity, showHidden: true })).to.not.contain('hunter')
    })

    it('is asked again when the token was changed meanwhile', async () => {
      let asked = 0
      const made = source(async () => {
        const token = `hunter-${++asked}`
        await server.user('a', token)
        if (asked === 2) await server.user('a', 'changed meanwhile')
        return token
      })
      await made.initialize()
      const first = await executorOf(made).lease()
      const second = await executorOf(made).lease()
      expect(asked).to.equal(3)
      first.release()
      second.release()
    })

    it('fails the login with a clear error when it throws, and is asked anew by the next', async () => {
      let isBroken = true
      const made = source(async () => {
        if (isBroken) throw new RangeError('hunter2 has expired')
        await server.user('a', 'hunter3')
        return 'hunter3'
      })
      await rejection(made.initialize(), Unavailable, /^the password callback failed \(RangeError\)$/)
      isBroken = false
      await made.initialize()
      isBroken = true
      const held = await executorOf(made).lease()
      const error = await rejection(executorOf(made).lease(), Unavailable, /cannot be reached/)
      expect(inspect(error, { depth: Infinity }))
        .to.contain('the password callback failed (RangeError)')
        .and.not.contain('hunter')
      isBroken = false
      ;(await executorOf(made).lease()).release()
      held.release()
    })

    const answers: readonly (readonly [what: string, answer: unknown])[] = [
      ['undefined', undefined],
      ['an empty text', ''],
      ['a number', 7],
    ]
    for (const [what, answer] of answers)
      it(`fails the login when it returns ${what}`, async () => {
        const made = source((() => answer) as PasswordCallback)
        await rejection(
          made.initialize(),
          Unavailable,
          /callback returned no password: return a non-empty string/,
        )
      })

    it('is not waited for forever', async () => {
      const patience = engine === 'postgres' ? { connectTimeoutMS: 200 } : { connectTimeout: 200 }
      let isSilent = false
      const made = source(async () => {
        if (isSilent) return new Promise<string>(() => {})
        await server.user('a', 'hunter3')
        return 'hunter3'
      }, patience)
      await made.initialize()
      isSilent = true
      const held = await executorOf(made).lease()
      const error = await rejection(executorOf(made).lease(), Unavailable, /cannot be reached/)
      expect(inspect(error)).to.match(/(callback did not respond|no connection became free) in 200 ms/)
      held.release()
      await made.destroy()
      await server.gone()
    })

    it('is asked for the user of the DSN that the file moves to', async () => {
      const other = await server.user('b', 'hunter-b')
      await server.user('a', 'hunter-a')
      secret = new HotSecret(dsn)
      const made = source(({ user }) => `hunter-${user.slice(-1)}`, {
        dsn: secret.dsn(engine),
        debounceMs: 20,
      })
      await made.initialize()
      const reloaded = new Promise((resolve) => made.on('reload', resolve))
      secret.rewrite(other.replace('hunter-b', 'of no use'))
      await reloaded
      await server.gone('a')
      expect(await server.sessions('b')).to.be.greaterThan(0)
    })
  })

const ONE = { name: 'hot_one', text: 'SELECT 1' }

const quiet = { info: () => {}, warn: () => {} }
