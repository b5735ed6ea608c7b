import { expect } from 'chai'
import { Client } from 'pg'
import { MigrationError } from '../../../lib/errors.js'
import { migrate } from '../../../lib/migrations/index.js'
import { serviceUrl } from '../../support/running/services.js'
import { ownServer } from '../../support/running/start-services.js'
import { poolSessions } from '../../support/running/pgbouncer.js'
import { untilRow } from '../fresh-database.js'
import { failureOf, file, onEachEngine, problemOf, tables } from '../each-engine.js'
import { startPooler } from './pooler.js'

onEachEngine(
  'a pooler in front of the database',
  (database) => {
    const through = async (mode: 'transaction' | 'session', work: (url: string) => Promise<void>) => {
      const pooler = await startPooler(database().url, mode)
      try {
        await work(pooler.url)
      } finally {
        await pooler.close()
      }
    }

    it('is refused in transaction mode, before anything is changed', () =>
      through('transaction', async (url) => {
        const failure = await failureOf(migrate({ url, files: tables(2) }).up())
        expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'pooler')
        expect(problemOf(failure)).to.deep.equal({ kind: 'pooler' })
        expect(await failureOf(migrate({ url, files: tables(2) }).down(0))).to.have.property('stop', 'pooler')
        expect(await database().tables()).to.not.include('t2')
      }))

    it('is refused in transaction mode with many sessions in use as well', () =>
      through('transaction', async (url) => {
        const others = Array.from({ length: 3 }, () => new Client(url))
        for (const other of others) await other.connect()
        for (const other of others) await other.query('BEGIN')
        for (const other of others.slice(1)) await other.query('COMMIT')
        expect(await failureOf(migrate({ url, files: tables(2) }).up())).to.have.property('stop', 'pooler')
        for (const other of others) await other.end()
      }))

    it('does no harm to status and verify, which leave its sessions as they were', () =>
      through('transaction', async (url) => {
        expect(await migrate({ url, files: {} }).status()).to.have.length(2)
        expect(await migrate({ url, files: {} }).verify()).to.deep.equal([])
        const client = new Client(url)
        await client.connect()
        expect((await client.query('SHOW search_path')).rows).to.deep.equal([
          { search_path: '"$user", public' },
        ])
        await client.end()
      }))

    it('is refused when it is PgBouncer, whose sessions can be read through', async function () {
      const pooler = serviceUrl('pgbouncer')
      if (pooler === undefined) return this.skip()
      const { name } = database()
      const url = Object.assign(new URL(pooler), { pathname: `/${name}` }).href
      const failure = await failureOf(migrate({ url, files: tables(2) }).up())
      expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'pooler')
      expect(await database().tables()).to.not.include('t2')
      const states = (await migrate({ url, files: {} }).status()).map(({ state }) => state)
      expect([...new Set(states)]).to.deep.equal(['applied'])
      expect(await migrate({ url, files: {} }).verify()).to.deep.equal([])
    })

    it('is named where a comparison makes databases that it does not know', async function () {
      const pooler = serviceUrl('pgbouncer')
      if (pooler === undefined) return this.skip()
      const url = Object.assign(new URL(pooler), { pathname: `/${database().name}` }).href
      const failure = await failureOf(migrate({ url, files: tables(2) }).tryDowns())
      expect(problemOf(failure)).to.include({ kind: 'scratchNotReached' })
    })

    it('is welcome in session mode', () =>
      through('session', async (url) => {
        expect((await migrate({ url, files: tables(2) }).up()).applied).to.deep.equal(['0002_t2'])
      }))

    it('is welcome when it is PgBouncer in session mode, where the lock holds until the run ends', async function () {
      const pooler = await ownServer('pgbouncer', this)
      try {
        await poolSessions(pooler.url)
        const url = Object.assign(new URL(pooler.url), { pathname: `/${database().name}` }).href
        const waits = file('0003_waits', 'SELECT pg_advisory_xact_lock(7)', '')
        const files = { ...tables(2), ...waits }
        const through = migrate({ url, files })
        await database().rows('SELECT pg_advisory_lock(7)')
        const run = through.up()
        await untilRow(database(), "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        const direct = migrate({ url: database().url, files, waitTimeoutMs: 200 })
        expect(await failureOf(direct.up())).to.have.property('stop', 'locked')
        await database().rows('SELECT pg_advisory_unlock(7)')
        expect((await run).applied).to.deep.equal(['0002_t2', '0003_waits'])
        expect(await through.verify()).to.deep.equal([])
        await through.down(1)
        expect(await database().tables()).to.not.include('t2')
      } finally {
        await pooler.stop()
      }
    })
  },
  { dialects: ['postgres'] },
)
