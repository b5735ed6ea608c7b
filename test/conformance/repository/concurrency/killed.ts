import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../../lib/context.js'
import { Unavailable } from '../../../../lib/errors.js'
import { increment } from '../../../../lib/resource/values/increment.js'
import type { Executor, Lease } from '../../../../lib/persistence/engines/executor/executor.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { current } from '../../../../lib/persistence/sql/transaction.js'
import type { BackendName } from '../../../support/databases/backends.js'
import { column, run } from '../../../support/databases/statement.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'

/** More than `modify` sends. */
const MOST_STATEMENTS = 20

/** A connection that the server ends while `modify` uses it. */
export const killed = (holder: Holder, dataSource: () => DataSource, backend: BackendName): void => {
  const specimens = () => holder.subject.specimens
  const database = () => executorOf(dataSource())
  const isPostgres = backend === 'postgres'
  const ownId = async (on: Executor) =>
    (await column(on, isPostgres ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()'))[0] as string
  const kill = (id: string) =>
    run(database(), isPostgres ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`)
  const count = async () => (await specimens().get('a')).count
  const grow = () => specimens().modify('a', (row) => ({ count: row.count + 1 }))

  /**
   * Runs it with the connection of its transaction killed before the statement of that number. Resolves to
   * how many were sent.
   */
  const killing = async (position: number, fn: () => Promise<unknown>): Promise<number> => {
    const on = database()
    const { lease } = on
    let sent = 0
    on.lease = async (options) => {
      const inner = await lease.call(on, options)
      const id = await ownId(inner)
      const next = async () => {
        if (++sent === position) await kill(id)
      }
      const outer: Pick<Lease, 'run' | 'control'> = {
        run: async (...operands) => {
          await next()
          return inner.run(...operands)
        },
        control: async (text) => {
          await next()
          return inner.control(text)
        },
      }
      return Object.assign(Object.create(inner) as Lease, outer, {
        release: (how?: { readonly broken?: boolean }) => inner.release(how),
      })
    }
    try {
      await fn()
    } finally {
      on.lease = lease
    }
    return sent
  }

  describe('a killed connection', () => {
    beforeEach(() => inAcme(() => specimens().create(draft({ id: 'a', count: 1 }))))

    const add = () => specimens().update('a', { count: increment(1) }, ['count'])
    const operations: Readonly<Record<string, () => Promise<unknown>>> = {
      modify: grow,
      'a transaction with an increment': () => specimens().transaction(add),
    }
    for (const [name, operation] of Object.entries(operations))
      it(`before any statement of ${name} leaves nothing, and rejects`, () =>
        inAcme(async () => {
          const sent = await killing(0, operation)
          expect(sent).to.be.within(3, MOST_STATEMENTS)
          for (let position = 1; position <= sent; position++) {
            const before = await specimens().get('a')
            await rejection(killing(position, operation), Unavailable)
            expect(await specimens().get('a'), `statement ${position}`).to.deep.equal(before)
            await operation()
            expect(await count(), `after statement ${position}`).to.equal(before.count + 1)
          }
        }))

    it('between the locked read and the write leaves nothing, and does not call the function again', () =>
      inAcme(async () => {
        let calls = 0
        let committed = false
        const failing = specimens().modify('a', async (row) => {
          calls++
          RequestContext.current().afterCommit(() => (committed = true))
          await specimens().create(draft({ id: 'b' }))
          await kill(await ownId(current(database())))
          return { count: row.count + 1 }
        })
        await rejection(failing, Unavailable, /connection to the database was lost/)
        expect([calls, committed, await count()]).to.deep.equal([1, false, 1])
        expect(await specimens().exists({ filter: 'id = "b"' })).to.equal(false)
        await Promise.all(Array.from({ length: 20 }, grow))
        expect(await count()).to.equal(21)
      }))

    it('releases the lock to the next caller', () =>
      inAcme(async () => {
        let waiting: Promise<unknown> = Promise.resolve()
        const failing = specimens().modify('a', async () => {
          waiting = RequestContext.detached(grow)
          await kill(await ownId(current(database())))
          return { count: 100 }
        })
        await rejection(failing, Unavailable)
        await waiting
        expect(await count()).to.equal(2)
      }))
  })
}
