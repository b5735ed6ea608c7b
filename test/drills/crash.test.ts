import { expect } from 'chai'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DataSource } from 'typeorm'
import { executorOf } from '../../lib/persistence/engines/executor-of.js'
import { openSubject, type OpenSubject } from '../conformance/repository/open-subject.js'
import { draft, inAcme } from '../conformance/repository/subject.js'
import { databases, describeOn } from '../support/databases/backends.js'
import { drill } from '../support/drill.js'
import { onStatement } from '../support/databases/on-statement.js'
import type { Errand } from './hosts/batch-victim.js'

const ROUNDS = drill(5, 100)
const VICTIM = fileURLToPath(new URL('hosts/batch-victim.js', import.meta.url))
const KEYS = Array.from({ length: 12 }, (_, i) => `row-${String(i).padStart(2, '0')}`)

/** Runs the errand in a process of its own; answers the signal that ended it. */
const send = (errand: Errand): Promise<NodeJS.Signals | number | null> =>
  new Promise((resolve, reject) => {
    const child = fork(VICTIM, { execArgv: [] })
    child.once('message', () => child.send(errand))
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal ?? code))
  })

describeOn(
  'a process killed in a batch',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    let subject: OpenSubject
    let url: string
    const sent: Record<Errand['operation'], number> = { batchUpdate: 0, batchDelete: 0 }

    const name = `victim ${process.pid}`
    /**
     * The server goes on with what it has received, a COMMIT perhaps, and notices only then that nobody is
     * there.
     */
    const isForgotten = async () => {
      const text = 'SELECT count(*)::int AS left FROM pg_stat_activity WHERE application_name = $1'
      for (let left = 1; left > 0;)
        left = (await subject.dataSource!.query<{ left: number }[]>(text, [name]))[0]!.left
    }

    /** What the rows hold, each state once. */
    const states = async () => {
      const { items } = await subject.specimens.list({ showDeleted: true, pageSize: 1000 })
      expect(items.map(({ id }) => id)).to.deep.equal(KEYS)
      return new Set(
        items.map(({ count, deleteTime }) => `${count} ${deleteTime === undefined ? 'live' : 'deleted'}`),
      )
    }

    before(async () => {
      subject = await openSubject(backend)
      const dataSource = subject.dataSource as DataSource
      url = (dataSource.options as { url: string }).url
      let counted = 0
      onStatement(executorOf(dataSource), () => counted++)
      const statementsOf = async (operation: () => Promise<unknown>) => {
        counted = 0
        await operation()
        return counted
      }
      await inAcme(async () => {
        const { specimens } = subject
        for (const id of KEYS) await specimens.create(draft({ id }))
        sent.batchUpdate = await statementsOf(() =>
          specimens.batchUpdate(
            KEYS.map((key) => ({ key, entity: { count: -1 }, fieldMask: ['count'] as const })),
          ),
        )
        sent.batchDelete = await statementsOf(() => specimens.batchDelete(KEYS))
        for (const id of KEYS) await specimens.undelete(id)
      })
    })
    after(() => subject?.close())

    for (const operation of ['batchUpdate', 'batchDelete'] as const)
      it(`${operation} leaves all or nothing behind, ${ROUNDS} times`, () =>
        inAcme(async () => {
          for (let round = 0; round < ROUNDS; round++) {
            const [before] = await states()
            // Spread over the whole batch, so that few rounds reach its beginning, its middle and its end
            // too.
            const last = 1 + Math.floor(((round + 0.5) / ROUNDS) * sent[operation])
            const ended = await send({ url, name, operation, keys: KEYS, count: round, last })
            expect(ended, `round ${round}`).to.equal('SIGKILL')
            await isForgotten()
            const after = await states()
            const saved = operation === 'batchUpdate' ? `${round} live` : before?.replace('live', 'deleted')
            expect([...after], `statement ${last} of ${sent[operation]}`).to.have.length(1)
            expect([...after][0]).to.be.oneOf(last === sent[operation] ? [before, saved] : [before])
            if ([...after][0]?.endsWith('deleted'))
              for (const id of KEYS) await subject.specimens.undelete(id)
          }
        }))
  },
)
