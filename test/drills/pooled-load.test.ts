import { expect } from 'chai'
import { randomInt } from 'node:crypto'
import { Cancelled, DeadlineExceeded } from '../../lib/errors.js'
import { RequestContext } from '../../lib/context.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import type { Database } from '../../lib/persistence/engines/executor/executor.js'
import { executorOf } from '../../lib/persistence/engines/executor-of.js'
import { HotDataSource } from '../../lib/persistence/hot-reload/hot-data-source.js'
import { named } from '../../lib/persistence/engines/executor/named.js'
import { repositoriesOn } from '../conformance/repository/open-subject.js'
import { draft, inAcme, type Subject } from '../conformance/repository/subject.js'
import { describeOn, pooled } from '../support/databases/backends.js'
import { drill } from '../support/drill.js'
import { coalesceEach, coalesceInGroups } from '../support/databases/coalesced-calls.js'
import { pooledDatabase } from '../support/databases/pooled-database.js'
import { ownServer, type StartedService } from '../support/running/start-services.js'
import { PGBOUNCER_POOL, poolSessions } from '../support/running/pgbouncer.js'
import { Note, Specimen } from '../support/entities/specimen.js'
import { HotSecret } from '../persistence/hot-reload/secret.js'

const DURATION_MS = drill(3_000, 30_000)
const CALLERS = 30
/** Of a call: some are over before it has a connection, some in the middle of the statement, some never. */
const [SHORTEST_MS, LONGEST_MS] = [5, 85]

const NAP = named('SELECT $1::text, pg_sleep(0.03)')
const VALUES = {
  blob: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  score: 0.1 + 0.2,
  dueTime: new Date('2024-02-01T23:59:59.123Z'),
}

interface Case {
  readonly pools: 'transactions' | 'sessions'
  readonly poolSize: number
  /** @returns what ends the mode. */
  readonly merging?: () => () => void
}

const CASES: Readonly<Record<string, Case>> = {
  'poolers of transactions': { pools: 'transactions', poolSize: 10 },
  // Each connection has a session of its own there.
  'poolers of sessions': { pools: 'sessions', poolSize: PGBOUNCER_POOL },
  'poolers and each call merged': { pools: 'transactions', poolSize: 10, merging: coalesceEach },
  'poolers and calls merged in crowds': { pools: 'transactions', poolSize: 10, merging: coalesceInGroups },
}

for (const [between, { pools, poolSize, merging }] of Object.entries(CASES))
  describeOn(`callers with short deadlines, ${between} in between, and rotations`, pooled, () => {
    const poolers: StartedService[] = []
    let drop: () => Promise<void>
    let secret: HotSecret
    let dataSource: HotDataSource
    let database: Database
    let specimens: Subject['specimens']
    let urls: readonly string[]
    let endMerging: (() => void) | undefined

    before(async function () {
      endMerging = merging?.()
      for (let n = 0; n < 2; n++) poolers.push(await ownServer('pgbouncer', this))
      if (pools === 'sessions') for (const { url } of poolers) await poolSessions(url)
      const made = await pooledDatabase(poolers[0]!.url)
      drop = made.drop
      urls = poolers.map(({ url }) => Object.assign(new URL(made.url), { port: new URL(url).port }).href)
      secret = new HotSecret(urls[0]!)
      dataSource = new HotDataSource({
        dsn: secret.dsn('postgres'),
        debounceMs: 20,
        poolSize,
        entities: [Specimen, Note],
      })
      await dataSource.initialize()
      database = executorOf(dataSource)
      await createTables(dataSource, [Specimen], 'postgres')
      specimens = repositoriesOn(dataSource).specimens
    })
    after(async () => {
      endMerging?.()
      if (dataSource?.isInitialized) await dataSource.destroy()
      secret?.remove()
      await drop?.()
      for (const pooler of poolers) await pooler.stop()
    })

    it(`end no pooler in ${DURATION_MS / 1000} s, and read nothing wrong`, async () => {
      const { id } = await inAcme(() => specimens.create(draft(VALUES)))
      const calls: readonly ((text: string, context: RequestContext) => Promise<void>)[] = [
        async (text, { signal }) => {
          const { rows } = await database.run(NAP, [text], { signal: signal! })
          expect(rows).to.deep.equal([[text, '']])
        },
        async (_, context) => void expect(await specimens.get(id, { context })).to.deep.include(VALUES),
        async (text, context) => {
          const made = await specimens.create(draft({ ...VALUES, title: text }), { context })
          expect(made).to.deep.include({ ...VALUES, title: text })
        },
        (text, around) =>
          specimens.transaction(
            async (context) => {
              const made = await specimens.create(draft({ ...VALUES, title: text }), { context })
              await database.run(NAP, [text], { signal: context.signal! })
              expect(await specimens.get(made.id, { context })).to.deep.include({ ...VALUES, title: text })
            },
            { context: around },
          ),
      ]
      const wrong: unknown[] = []
      const ends = { answered: 0, late: 0, rotations: 0 }
      const end = Date.now() + DURATION_MS
      const caller = async (name: number) => {
        for (let n = 0; Date.now() < end; n++) {
          const signal = AbortSignal.timeout(randomInt(SHORTEST_MS, LONGEST_MS + 1))
          const context = RequestContext.current().with({ signal })
          try {
            await calls[(name + n) % calls.length]!(`caller ${name}, call ${n}`, context)
            ends.answered++
          } catch (error) {
            if (error instanceof DeadlineExceeded || error instanceof Cancelled) ends.late++
            else wrong.push(error)
          }
        }
      }
      const rotate = async () => {
        for (let n = 1; Date.now() < end; n++) {
          const reload = new Promise<void>((resolve) => {
            const stop = dataSource.on('reload', () => {
              stop()
              resolve()
            })
          })
          secret.rewrite(urls[n % urls.length]!)
          await reload
          ends.rotations++
        }
      }
      await inAcme(() => Promise.all([rotate(), ...Array.from({ length: CALLERS }, (_, n) => caller(n))]))

      expect(wrong.map(String)).to.deep.equal([])
      expect(poolers.map(({ hasEnded }) => hasEnded)).to.deep.equal([false, false])
      expect(poolers.map((pooler) => pooler.log()).join(''))
        .to.include('cancel request')
        .and.not.include('FATAL')
      expect(Math.min(...Object.values(ends)), JSON.stringify(ends)).to.be.greaterThan(1)
    })
  })
