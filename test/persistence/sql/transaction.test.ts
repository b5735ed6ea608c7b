import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, Cancelled, ErrConflict, ErrPreconditionFailed, Unavailable } from '../../../lib/errors.js'
import { constraintError } from '../../../lib/persistence/engines/errors/constraint-error.js'
import { retryable } from '../../../lib/persistence/engines/errors/deadlock-retries.js'
import type { Database, Result } from '../../../lib/persistence/engines/executor/executor.js'
import { atomically, current, transaction } from '../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { rejection } from '../../support/rejection.js'
import { column, run } from '../../support/databases/statement.js'

class Stop extends Error {}

describeOn('transaction', databases, ({ name, open }) => {
  let backend: OpenBackend
  let database: Database
  const isServer = name !== 'sqlite' && name !== 'better-sqlite3'

  before(async () => {
    backend = await open([])
    database = backend.database!
    await create(database)
  })
  beforeEach(async () => {
    await run(database, 'DELETE FROM chip')
    await run(database, 'DELETE FROM stone')
  })
  after(() => backend?.close())

  const create = async (on: Database) => {
    const engine = on.dialect.name === 'mysql' || on.dialect.name === 'mariadb' ? ' ENGINE = InnoDB' : ''
    await run(on, `CREATE TABLE stone (id int PRIMARY KEY, name varchar(99) UNIQUE)${engine}`)
    const deferred = engine === '' ? ' DEFERRABLE INITIALLY DEFERRED' : ''
    await run(
      on,
      `CREATE TABLE chip (id int PRIMARY KEY, stone int, FOREIGN KEY (stone) REFERENCES stone (id)${deferred})${engine}`,
    )
  }
  const insert = async (id: number, stoneName = `stone ${id}`, context?: RequestContext): Promise<Result> =>
    run(current(database, context), 'INSERT INTO stone (id, name) VALUES (?, ?)', [id, stoneName])
  const twoRows = () => run(database, "INSERT INTO stone VALUES (1, 'one'), (2, 'two')")
  const ids = () => column(database, 'SELECT id FROM stone ORDER BY id')
  const ownId = () =>
    column(current(database), name === 'postgres' ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()')
  const kill = (id: string) =>
    run(database, name === 'postgres' ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`)

  it('commits and returns what its function returns', async () => {
    const answer = await transaction(database, async () => {
      await insert(1)
      await insert(2)
      return 'done'
    })
    expect(answer).to.equal('done')
    expect(await ids()).to.deep.equal(['1', '2'])
  })

  it('takes a DataSource as well', async () => {
    await rejection(
      transaction(backend.dataSource!, async () => {
        await insert(1)
        throw new Stop()
      }),
      Stop,
    )
    expect(await ids()).to.deep.equal([])
  })

  it('rolls back when its function throws, and throws that', async () => {
    const failing = transaction(database, async () => {
      await insert(1)
      throw new Stop('mine')
    })
    await rejection(failing, Stop, 'mine')
    expect(await ids()).to.deep.equal([])
  })

  it('is joined through the context it hands out, outside of the current one too', async () => {
    const elsewhere = new RequestContext({ requestId: 'elsewhere' })
    const failing = transaction(
      database,
      async (context) => {
        expect(context.requestId).to.equal('elsewhere')
        expect(RequestContext.current()).to.equal(context)
        await new RequestContext().run(() => insert(1, 'a', context))
        expect(await column(current(database, context), 'SELECT id FROM stone')).to.deep.equal(['1'])
        throw new Stop()
      },
      { context: elsewhere },
    )
    await rejection(failing, Stop)
    expect(await ids()).to.deep.equal([])
  })

  it('is nothing outside of one', () => {
    expect(current(database)).to.equal(database)
    expect(current(database, new RequestContext({ transaction: 'of somebody else' as never }))).to.equal(
      database,
    )
  })

  it('sends one statement at a time, in the order in which they were called', async () => {
    await transaction(database, async () => {
      await Promise.all([
        insert(1),
        insert(2),
        run(current(database), 'UPDATE stone SET id = id + 10'),
        insert(3),
      ])
    })
    expect(await ids()).to.deep.equal(['3', '11', '12'])
  })

  it('includes what was called before its function returned, awaited or not', async () => {
    const loose: Promise<unknown>[] = []
    await transaction(database, () => {
      loose.push(insert(1))
      return Promise.resolve()
    })
    await Promise.all(loose)
    expect(await ids()).to.deep.equal(['1'])
  })

  it('refuses a call in its context when it has ended', async () => {
    let late: RequestContext | undefined
    await transaction(database, async (context) => {
      late = context
      await insert(1)
    })
    await rejection(insert(2, 'late', late), TypeError, 'the transaction has ended')
    await rejection(
      transaction(database, () => insert(2), { context: late! }),
      TypeError,
      'the transaction has ended',
    )
    await rejection(
      Promise.resolve().then(() =>
        atomically(current(database, late), late!, (on) => run(on, 'SELECT 1 AS one')),
      ),
      TypeError,
      'has ended',
    )
    expect(await ids()).to.deep.equal(['1'])
  })

  it('serves far more callers than there are connections', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, id) => transaction(database, () => insert(id))))
    expect((await ids()).length).to.equal(40)
  })

  it('does not begin for a caller who went away', async () => {
    const context = new RequestContext({ signal: AbortSignal.abort() })
    await rejection(
      transaction(database, () => insert(1), { context }),
      Cancelled,
    )
    await rejection(
      atomically(current(database, context), context, (on) => run(on, 'SELECT 1 AS one')),
      Cancelled,
    )
  })

  describe('with a statement that fails', () => {
    it('keeps what came before, and takes what comes after', async () => {
      await transaction(database, async () => {
        await insert(1, 'a')
        await insert(2, 'b')
        expect(constraintError(await rejection(insert(3, 'a'), Error))).to.be.instanceOf(ErrConflict)
        expect(await column(current(database), 'SELECT id FROM stone ORDER BY id')).to.deep.equal(['1', '2'])
        await rejection(run(current(database), 'SELECT nothing FROM nowhere'), Error)
        await insert(4, 'd')
        await rejection(insert(5, 'd'), Error)
        await rejection(insert(6, 'd'), Error)
      })
      expect(await ids()).to.deep.equal(['1', '2', '4'])
    })

    it('rolls all back when the failure is not caught', async () => {
      const failing = transaction(database, async () => {
        await insert(1, 'a')
        await insert(2, 'a')
      })
      expect(constraintError(await rejection(failing, Error))).to.be.instanceOf(ErrConflict)
      expect(await ids()).to.deep.equal([])
    })
  })

  describe('inside of another', () => {
    it('is a savepoint: its failure takes back its own part alone', async () => {
      await transaction(database, async () => {
        await insert(1)
        await rejection(
          transaction(database, async () => {
            await insert(2)
            await rejection(insert(3, 'stone 2'), Error)
            await transaction(database, () => insert(4))
            throw new Stop()
          }),
          Stop,
        )
        await transaction(database, async () => {
          await insert(5)
          await rejection(
            transaction(database, () => insert(6, 'stone 5')),
            Error,
          )
          await insert(7)
        })
        await insert(8)
        await rejection(insert(9, 'stone 8'), Error)
      })
      expect(await ids()).to.deep.equal(['1', '5', '7', '8'])
    })

    it('fails many times without a trace', async () => {
      await transaction(database, async () => {
        await insert(1)
        for (let i = 0; i < 50; i++) {
          await rejection(
            transaction(database, async () => {
              await insert(2)
              throw new Stop()
            }),
            Stop,
          )
        }
        await insert(3)
      })
      expect(await ids()).to.deep.equal(['1', '3'])
    })

    it('runs one after another, and keeps the statements around it out', async () => {
      const order: string[] = []
      const step = async (label: string, id: number) => {
        await insert(id)
        order.push(label)
      }
      const nested = (label: string, id: number, fails = false) =>
        transaction(database, async () => {
          await step(`${label} begins`, id)
          await turn()
          await step(`${label} ends`, id + 1)
          if (fails) throw new Stop()
        }).catch(() => order.push(`${label} failed`))
      await transaction(database, () =>
        Promise.all([
          nested('first', 10),
          step('between', 20),
          nested('second', 30, true),
          step('after', 40),
        ]),
      )
      expect(order).to.deep.equal([
        'first begins',
        'first ends',
        'between',
        'second begins',
        'second ends',
        'second failed',
        'after',
      ])
      expect(await ids()).to.deep.equal(['10', '11', '20', '40'])
    })

    it('is joined by calls that are given the context of the outer one', async () => {
      await transaction(database, async (outer) => {
        await insert(1)
        const nested = transaction(database, async () => {
          await insert(2, 'b', outer)
          await transaction(database, () => insert(3), { context: outer })
          throw new Stop()
        })
        await rejection(nested, Stop)
        await insert(4, 'd', outer)
      })
      expect(await ids()).to.deep.equal(['1', '4'])
    })

    it('refuses a call in its own context when it has ended', async () => {
      await transaction(database, async () => {
        let late: RequestContext | undefined
        await transaction(database, (context) => {
          late = context
          return insert(1)
        })
        await rejection(insert(2, 'late', late), TypeError, 'has ended')
        await insert(3)
      })
      expect(await ids()).to.deep.equal(['1', '3'])
    })
  })

  describe('of two databases', () => {
    let other: OpenBackend
    before(async () => {
      other = await open([])
      await create(other.database!)
    })
    after(() => other?.close())
    const insertThere = (id: number) =>
      run(current(other.database!), 'INSERT INTO stone (id, name) VALUES (?, ?)', [id, `there ${id}`])
    const idsThere = () => column(other.database!, 'SELECT id FROM stone ORDER BY id')

    it('is not joined by the other database', async () => {
      await rejection(
        transaction(database, async () => {
          await insert(1)
          await insertThere(1)
          throw new Stop()
        }),
        Stop,
      )
      expect([await ids(), await idsThere()]).to.deep.equal([[], ['1']])
    })

    it('is found through the one of the other database that is open inside of it', async () => {
      await rejection(
        transaction(database, async () => {
          await transaction(other.database!, async () => {
            await insert(2)
            await insertThere(2)
            await transaction(database, () => insert(3))
          })
          expect(await column(current(database), 'SELECT id FROM stone ORDER BY id')).to.deep.equal([
            '2',
            '3',
          ])
          throw new Stop()
        }),
        Stop,
      )
      expect([await ids(), await idsThere()]).to.deep.equal([[], ['1', '2']])
    })

    it('runs its afterCommit in the one that is open around it', async () => {
      const failing = transaction(database, async () => {
        await transaction(other.database!, async ({ afterCommit }) => {
          await insertThere(6)
          afterCommit(() => insert(6))
        })
        expect(await column(current(database), 'SELECT id FROM stone ORDER BY id')).to.deep.equal(['6'])
        throw new Stop()
      })
      await rejection(failing, Stop)
      expect(await ids()).to.deep.equal([])
      expect(await idsThere()).to.include('6')
    })

    it('is joined through the one of the other database, whatever context is given', async () => {
      const failing = transaction(database, async (outer) => {
        await transaction(other.database!, async () => {
          await insert(4, 'd', outer)
          await insert(5)
        })
        throw new Stop()
      })
      await rejection(failing, Stop)
      expect(await ids()).to.deep.equal([])
    })
  })

  describe('atomically', () => {
    const both = (first: number, second: number) => (context: RequestContext) =>
      atomically(current(database, context), context, async (on) => {
        await run(on, 'INSERT INTO stone (id, name) VALUES (?, ?)', [first, `stone ${first}`])
        await run(on, 'INSERT INTO stone (id, name) VALUES (?, ?)', [second, `stone ${second}`])
        return first + second
      })

    it('keeps all', async () => {
      expect(await both(1, 2)(new RequestContext())).to.equal(3)
      expect(await ids()).to.deep.equal(['1', '2'])
    })

    it('keeps nothing when one statement fails', async () => {
      await rejection(both(1, 1)(new RequestContext()), Error)
      expect(await ids()).to.deep.equal([])
    })

    it('is a savepoint inside of a transaction, and goes with it', async () => {
      await rejection(
        transaction(database, async (context) => {
          await both(1, 2)(context)
          throw new Stop()
        }),
        Stop,
      )
      expect(await ids()).to.deep.equal([])
    })

    it('leaves the transaction around it usable when it fails', async () => {
      await transaction(database, async (context) => {
        await insert(1)
        await rejection(both(2, 1)(context), Error)
        await insert(3)
      })
      expect(await ids()).to.deep.equal(['1', '3'])
    })

    it('is tried again after a deadlock, three times', async () => {
      let attempts = 0
      const deadlock = Object.assign(new Error('deadlock'), { code: '40P01' })
      const flaky = (succeedsAt: number) =>
        atomically(current(database, new RequestContext()), new RequestContext(), async (on) => {
          await run(on, 'INSERT INTO stone (id) VALUES (1)')
          if (++attempts < succeedsAt) throw deadlock
        })
      await flaky(4)
      expect(attempts).to.equal(4)
      expect(await ids()).to.deep.equal(['1'])
      attempts = 0
      await run(database, 'DELETE FROM stone')
      const error = await rejection(flaky(5), Aborted)
      expect(error.cause).to.equal(deadlock)
      expect(attempts).to.equal(4)
      expect(await ids()).to.deep.equal([])
    })
  })

  it('holds to all or nothing whichever statement fails', async () => {
    const sent = await everyStatementMayFail(
      backend.dataSource!,
      async () => {
        await run(database, 'DELETE FROM stone')
      },
      () =>
        transaction(database, async (context) => {
          await insert(1)
          await transaction(database, () => insert(2)).catch(() => {})
          await atomically(current(database, context), context, (on) =>
            run(on, 'INSERT INTO stone (id) VALUES (3)'),
          )
          await insert(4)
        }),
      async (outcome) => {
        const found = (await ids()).join()
        if (outcome === 'failed') expect(found).to.equal('')
        else expect(found).to.be.oneOf(['1,2,3,4', '1,3,4'])
      },
    )
    expect(sent).to.be.greaterThan(6)
  })

  describe('maxAttempts', () => {
    it('runs its function as often as it is told, then is Aborted', async () => {
      let attempts = 0
      const failing = (maxAttempts?: number) =>
        transaction(
          database,
          async () => {
            attempts++
            await insert(1)
            throw Object.assign(new Error('could not serialize'), { code: '40001' })
          },
          maxAttempts === undefined ? {} : { maxAttempts },
        )
      await rejection(failing(3), Aborted)
      expect(attempts).to.equal(3)
      attempts = 0
      await rejection(failing(), Aborted)
      expect(attempts).to.equal(1)
      expect(await ids()).to.deep.equal([])
    })

    it('leaves them to the outermost transaction', async () => {
      let [outer, inner] = [0, 0]
      await transaction(
        database,
        async () => {
          outer++
          await transaction(database, async () => {
            inner++
            await insert(1)
            if (outer === 1) throw Object.assign(new Error('deadlock'), { code: '40P01' })
          })
        },
        { maxAttempts: 2 },
      )
      expect([outer, inner]).to.deep.equal([2, 2])
      expect(await ids()).to.deep.equal(['1'])
    })

    it('is not for errors that would come again', async () => {
      let attempts = 0
      const failing = transaction(
        database,
        async () => {
          attempts++
          await insert(1, 'a')
          await insert(2, 'a')
        },
        { maxAttempts: 6 },
      )
      await rejection(failing, Error)
      expect(attempts).to.equal(1)
    })
  })

  // MySQL checks foreign keys with each row.
  if (name !== 'mariadb' && name !== 'mysql8') {
    it('rolls back when the commit itself is refused, with the error of the violated rule', async () => {
      const failing = transaction(database, async () => {
        await insert(1)
        await run(current(database), 'INSERT INTO chip (id, stone) VALUES (1, 99)')
      })
      await rejection(failing, ErrPreconditionFailed)
      expect(await ids()).to.deep.equal([])
      await insert(2)
    })
  }

  if (name === 'sqlite') {
    it('is over when the database ended it, whatever its function makes of that', async () => {
      const endless =
        'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) INSERT INTO stone (id) SELECT -x FROM r'
      const failing = transaction(database, async () => {
        await insert(1)
        await rejection(run(current(database), endless, [], { signal: AbortSignal.timeout(50) }), Error)
        await rejection(insert(2), Aborted, 'the database ended the transaction')
      })
      await rejection(failing, Aborted, 'the database ended the transaction')
      expect(await ids()).to.deep.equal([])
    })
  }

  if (isServer) {
    /** MariaDB locks the neighbours of a unique value that was there before, until it has purged that. */
    let round = 0
    beforeEach(() => void round++)
    /**
     * Two transactions that take the rows 1 and 2 in opposite order; the barrier makes sure that they meet.
     */
    const cross = (options: { maxAttempts?: number }, caught: (error: unknown) => void = () => {}) => {
      let arrived = 0
      let open: () => void = () => {}
      const barrier = new Promise<void>((resolve) => (open = resolve))
      const move = (first: number, second: number) =>
        transaction(
          database,
          async () => {
            await run(current(database), `UPDATE stone SET name = ? WHERE id = ?`, [
              `${round}: ${first}${second}`,
              first,
            ])
            if (++arrived === 2) open()
            await barrier
            try {
              await run(current(database), `UPDATE stone SET name = ? WHERE id = ?`, [
                `${round}: ${first}${second}+`,
                second,
              ])
            } catch (error) {
              caught(error)
              throw error
            }
          },
          options,
        )
      return Promise.allSettled([move(1, 2), move(2, 1)])
    }

    it('survives a deadlock with a retry', async () => {
      await twoRows()
      const outcomes = await cross({ maxAttempts: 4 })
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled'])
    })

    it('is Aborted by a deadlock without one, and the other goes through', async () => {
      await twoRows()
      const causes: unknown[] = []
      const outcomes = await cross({}, (error) => causes.push(error))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.equal(1)
      expect(failed?.reason).to.be.instanceOf(Aborted)
      expect(causes.map(retryable)).to.deep.equal([true])
    })

    it('saves nothing after a deadlock that its function swallowed, unless all of it is still there', async () => {
      await twoRows()
      let arrived = 0
      let open: () => void = () => {}
      const barrier = new Promise<void>((resolve) => (open = resolve))
      const move = (first: number, second: number) =>
        transaction(database, async () => {
          await run(current(database), `UPDATE stone SET name = ? WHERE id = ?`, [
            `${round}: first ${first}`,
            first,
          ])
          if (++arrived === 2) open()
          await barrier
          await run(current(database), `UPDATE stone SET name = ? WHERE id = ?`, [
            `${round}: second ${second}`,
            second,
          ]).catch(() => {})
          await insert(first * 10).catch(() => {})
        })
      const outcomes = await Promise.allSettled([move(1, 2), move(2, 1)])
      const kept = outcomes.flatMap(({ status }, index) =>
        status === 'fulfilled' ? [String((index + 1) * 10)] : [],
      )
      expect((await ids()).filter((id) => id.endsWith('0'))).to.deep.equal(kept)
      if (name !== 'postgres') expect(kept.length).to.equal(1)
    })

    it('is unavailable when its connection goes, saves nothing, and leaves the pool whole', async () => {
      await twoRows()
      const failing = transaction(database, async () => {
        const [id = ''] = await ownId()
        await insert(3)
        await kill(id)
        await insert(4)
      })
      await rejection(failing, Unavailable, 'connection to the database was lost')
      expect(await ids()).to.deep.equal(['1', '2'])
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => transaction(database, () => insert(10 + index))),
      )
    })

    it('throws what its function threw when the rollback fails as well', async () => {
      await twoRows()
      const failing = transaction(database, async () => {
        const [id = ''] = await ownId()
        await insert(3)
        await kill(id)
        throw new Stop('mine')
      })
      await rejection(failing, Stop, 'mine')
      expect(await ids()).to.deep.equal(['1', '2'])
    })

    it('does not claim to know what became of a commit that was cut off', async () => {
      await twoRows()
      const failing = transaction(
        database,
        async () => {
          const [id = ''] = await ownId()
          await insert(3)
          await kill(id)
        },
        { maxAttempts: 4 },
      )
      await rejection(failing, Unavailable, 'it is unknown whether the changes were saved')
    })

    it('is rolled back on the server when its process loses interest in a statement', async () => {
      await twoRows()
      const sleep = name === 'postgres' ? 'SELECT pg_sleep(60)' : 'SELECT SLEEP(60)'
      const failing = transaction(database, async () => {
        await insert(3)
        await run(current(database), sleep, [], { signal: AbortSignal.timeout(50) })
      })
      await rejection(failing, Error)
      expect(await ids()).to.deep.equal(['1', '2'])
    })
  }

  if (name === 'postgres') {
    it('fails as a whole when a batch goes on after a failed statement', async () => {
      await twoRows()
      const failing = atomically(
        current(database, new RequestContext()),
        new RequestContext(),
        async (on) => {
          await run(on, 'INSERT INTO stone (id) VALUES (3)')
          await rejection(run(on, 'INSERT INTO stone (id) VALUES (1)'), Error)
        },
      )
      await rejection(failing, Aborted, 'all of it was rolled back')
      expect(await ids()).to.deep.equal(['1', '2'])
    })

    it('keeps the locks of SELECT FOR UPDATE when a later statement fails', async () => {
      await twoRows()
      await transaction(database, async () => {
        await run(current(database), 'SELECT id FROM stone')
        await run(current(database), 'SELECT id FROM stone WHERE id = 1 FOR UPDATE')
        await rejection(insert(2), Error)
        await rejection(
          run(database, 'SELECT id FROM stone WHERE id = 1 FOR UPDATE NOWAIT'),
          Error,
          'could not obtain lock',
        )
      })
    })
  }
})
