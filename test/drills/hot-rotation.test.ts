import { expect } from 'chai'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { executorOf } from '../../lib/persistence/engines/executor-of.js'
import type { Database, Statement } from '../../lib/persistence/engines/executor/executor.js'
import { HotDataSource, type HotEvents } from '../../lib/persistence/hot-reload/hot-data-source.js'
import { drill } from '../support/drill.js'
import { HotSecret } from '../persistence/hot-reload/secret.js'
import { type Engine, hotServer, type HotServer } from '../persistence/hot-reload/hot-server.js'

const RATE = drill(30, 300)
const DURATION_MS = drill(1_000, 30_000)
const POOL = 5
/** A machine that is too slow for the rate gets as many as it can take. */
const MOST_AT_ONCE = 10 * POOL

const TEXTS: Readonly<Record<Engine, { readonly insert: Statement; readonly sum: Statement }>> = {
  postgres: {
    insert: { name: 'rotation_insert', text: 'INSERT INTO hits (amount) VALUES ($1)' },
    sum: { name: 'rotation_sum', text: 'SELECT count(*), pg_sleep(0.01) FROM hits' },
  },
  mysql: {
    insert: { name: 'rotation_insert', text: 'INSERT INTO hits (amount) VALUES (?)' },
    sum: { name: 'rotation_sum', text: 'SELECT count(*), sleep(0.01) FROM hits' },
  },
}

/**
 * Sends requests at a rate, whatever becomes of them: single statements, transactions, and transactions of
 * TypeORM.
 */
class Load {
  readonly failures: unknown[] = []
  sent = 0
  /** Rows that were said to be written. */
  written = 0
  readonly #running = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  readonly #start = Date.now()
  readonly #database: Database

  constructor(
    private readonly engine: Engine,
    private readonly dataSource: HotDataSource,
  ) {
    this.#database = executorOf(dataSource)
    // As many as are due by now, so that a late timer does not lower the rate.
    this.#timer = setInterval(() => {
      const due = ((Date.now() - this.#start) / 1000) * RATE
      while (this.sent < due && this.#running.size < MOST_AT_ONCE) this.#send(this.sent++)
    }, 5)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#running)
  }

  #send(index: number): void {
    const request =
      index % 6 === 0 ? this.#transaction() : index % 3 === 0 ? this.#typeorm() : this.#statement()
    const running: Promise<void> = request.then(
      () => void this.#running.delete(running),
      (error: unknown) => {
        this.#running.delete(running)
        this.failures.push(error)
      },
    )
    this.#running.add(running)
  }

  async #statement(): Promise<void> {
    await this.#database.run(TEXTS[this.engine].insert, [1])
    this.written++
  }

  async #transaction(): Promise<void> {
    const lease = await this.#database.lease()
    let broken = true
    try {
      await lease.control('BEGIN')
      await lease.run(TEXTS[this.engine].insert, [1])
      await lease.run(TEXTS[this.engine].sum, [])
      await lease.run(TEXTS[this.engine].insert, [1])
      await lease.control('COMMIT')
      broken = false
      this.written += 2
    } finally {
      lease.release({ broken })
    }
  }

  async #typeorm(): Promise<void> {
    await this.dataSource.transaction((manager) => manager.query(TEXTS[this.engine].insert.text, [1]))
    this.written++
  }
}

/** Counts sessions on the server until it is stopped. */
class Census {
  most = 0
  #isOver = false
  readonly #counting: Promise<void>

  constructor(server: HotServer) {
    this.#counting = this.#count(server)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#counting
  }

  async #count(server: HotServer): Promise<void> {
    while (!this.#isOver) {
      this.most = Math.max(this.most, await server.sessions())
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

for (const engine of ['postgres', 'mysql'] as const)
  describe(`rotating the DSN of ${engine} under ${RATE} requests a second`, () => {
    let server: HotServer
    /** Takes connections and says nothing. */
    let mute: Server
    const taken = new Set<Socket>()
    let secret: HotSecret
    let dataSource: HotDataSource

    before(async function () {
      const found = await hotServer(engine)
      if (found === undefined) return this.skip()
      server = found
      await server.rows('CREATE TABLE hits (amount int NOT NULL)')
      if (engine === 'postgres') await server.rows('GRANT ALL ON hits TO PUBLIC')
      mute = createServer((socket) => void taken.add(socket.on('error', () => {})))
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    })
    after(async () => {
      if (server === undefined) return
      if (dataSource?.isInitialized) await dataSource.destroy()
      secret?.remove()
      mute.close()
      await server.drop()
    })

    it(`fails none in ${DURATION_MS / 1000} s, keeps to twice the pool, and leaves no old session`, async () => {
      let inUse = await server.user('u0', 'hunter0')
      let restored = () => {}
      secret = new HotSecret(inUse)
      dataSource = new HotDataSource({
        dsn: secret.dsn(engine),
        poolSize: POOL,
        debounceMs: drill(20, 100),
        reloadLogger: { info: (_, text) => void (text.includes('again') && restored()), warn: () => {} },
      })
      await dataSource.initialize()
      const told = <E extends keyof HotEvents>(event: E) =>
        new Promise<HotEvents[E]>((resolve) => {
          const stop = dataSource.on(event, (value) => {
            stop()
            resolve(value)
          })
        })
      let users = 0
      let swaps = 0
      /**
       * @param early - the old user is locked out before the file is written, and the pool has to log in
       * again.
       */
      const toAnother = async (write: (text: string) => void, early = false) => {
        const old = `u${users}`
        inUse = await server.user(`u${++users}`, `hunter${users}`)
        const [held, ...lost] = await Promise.all([0, 1, 2].map(() => executorOf(dataSource).lease()))
        await held!.control('BEGIN')
        if (early) await server.lockOut(old)
        for (const lease of lost) lease.release({ broken: early })
        const reload = told('reload')
        const drained = told('drained')
        write(inUse)
        expect((await reload).dsn).to.match(new RegExp(`_u${users}@`))
        await server.lockOut(old)
        await held!.run(TEXTS[engine].insert, [0])
        await held!.control('COMMIT')
        held!.release()
        await drained
        await server.gone(old)
        swaps++
      }
      const inVain = async (write: (text: string) => void, text: string) => {
        const rejected = told('rejected')
        write(text)
        await rejected
      }
      const back = async () => {
        const isBack = new Promise<void>((resolve) => (restored = resolve))
        secret.rewrite(inUse)
        await isBack
      }
      const elsewhere = (port: number) => inUse.replace(/@[^/]*/, `@127.0.0.1:${port}`)
      const rewrite = (text: string) => secret.rewrite(text)
      const steps: readonly (() => Promise<void>)[] = [
        () => toAnother(rewrite),
        () => toAnother((text) => secret.renameOver(text)),
        () => toAnother((text) => secret.swapLink(text)),
        () => toAnother((text) => secret.swapLink(text)),
        () => inVain(() => secret.truncate(), ''),
        () => toAnother(rewrite, true),
        () => inVain(rewrite, elsewhere(1)),
        back,
        () => toAnother((text) => secret.swapLink(text), true),
        () => inVain(rewrite, elsewhere(1)),
        () => toAnother(rewrite),
        // A host that takes the connection and never answers: the next DSN does not wait for it.
        async () => {
          const connected = new Promise<unknown>((resolve) => mute.once('connection', resolve))
          rewrite(elsewhere((mute.address() as AddressInfo).port))
          await connected
          await toAnother(rewrite)
          for (const socket of taken) socket.destroy()
        },
      ]

      const load = new Load(engine, dataSource)
      const census = new Census(server)
      const end = Date.now() + DURATION_MS
      try {
        while (Date.now() < end || swaps === 0) for (const step of steps) await step()
      } finally {
        await load.stop()
        await census.stop()
      }

      expect(load.failures.map(String)).to.deep.equal([])
      expect(load.written).to.be.at.least(load.sent).and.at.least(RATE)
      const [row] = await server.rows('SELECT count(*) AS count FROM hits WHERE amount = 1')
      expect(Number(row!['count'])).to.equal(load.written)
      expect(census.most).to.be.at.most(2 * POOL)
      for (let old = 0; old < users; old++) await server.gone(`u${old}`)
      await dataSource.destroy()
      await server.gone()
    })
  })
