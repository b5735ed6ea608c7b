import { expect } from 'chai'
import {
  Column,
  Entity,
  type EntityManager,
  type EntitySubscriberInterface,
  PrimaryColumn,
  type TransactionCommitEvent,
  type TransactionRollbackEvent,
} from 'typeorm'
import { type CallFailure, RequestContext } from '../../../lib/context.js'
import { Aborted, Cancelled, ErrConflict, ErrNotFound } from '../../../lib/errors.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { current, transaction } from '../../../lib/persistence/sql/transaction.js'
import type { TransactionContext } from '../../../lib/persistence/sql/transaction-context.js'
import { databases, describeOn, type OpenBackend, pooled } from '../../support/databases/backends.js'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { column, run } from '../../support/databases/statement.js'
import { rejection } from '../../support/rejection.js'

@Entity('shelves')
class Shelf {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column({ type: 'varchar', length: 50, unique: true }) label!: string
}

class Stop extends Error {}

const shelf = (id: number, label = `shelf ${id}`): Shelf => Object.assign(new Shelf(), { id, label })

describeOn('the manager of a transaction', [...databases, ...pooled], ({ name, open }) => {
  let backend: OpenBackend
  let database: Database
  before(async () => {
    backend = await open([Shelf])
    database = backend.database!
    const engine = name === 'mariadb' || name === 'mysql8' ? ' ENGINE = InnoDB' : ''
    await run(
      database,
      `CREATE TABLE IF NOT EXISTS shelves (id int PRIMARY KEY, label varchar(50) UNIQUE)${engine}`,
    )
  })
  beforeEach(() => run(database, 'DELETE FROM shelves'))
  after(() => backend?.close())

  const ids = () => column(database, 'SELECT id FROM shelves ORDER BY id')
  const insert = (id: number, label = `shelf ${id}`) =>
    run(current(database), 'INSERT INTO shelves (id, label) VALUES (?, ?)', [id, label])

  it('and sql keep what they wrote with the rest, and lose it with the rest', async () => {
    const write = async (from: number) =>
      transaction(database, async ({ manager, sql }) => {
        await insert(from)
        await manager.save(shelf(from + 1))
        await sql`INSERT INTO shelves (id, label) VALUES (${from + 2}, ${`shelf ${from + 2}`})`
        await manager.getRepository(Shelf).insert(shelf(from + 3))
        await manager
          .createQueryBuilder()
          .insert()
          .into(Shelf)
          .values(shelf(from + 4))
          .execute()
        const seen = await manager.find(Shelf, { order: { id: 'ASC' } })
        expect(seen.map(({ id }) => id)).to.include.members([from, from + 1, from + 2, from + 3, from + 4])
        expect(await column(current(database), 'SELECT COUNT(*) FROM shelves')).to.deep.equal([
          `${seen.length}`,
        ])
        if (from > 1) throw new Stop()
      })
    await write(1)
    await rejection(write(11), Stop)
    expect(await ids()).to.deep.equal(['1', '2', '3', '4', '5'])
  })

  it('is made once, and says that its transaction is open', () =>
    transaction(database, async (context) => {
      const { manager } = context
      expect(context.manager).to.equal(manager)
      expect(manager.queryRunner?.isTransactionActive).to.equal(true)
      await manager.save([shelf(1), shelf(2)])
    }))

  it('loses no row after a caught conflict, whoever wrote it and whoever failed', async () => {
    await transaction(database, async ({ manager }) => {
      await insert(1)
      await manager.insert(Shelf, shelf(2))
      await rejection(insert(3, 'shelf 1'), Error)
      await manager.insert(Shelf, shelf(4))
      await rejection(manager.insert(Shelf, shelf(5, 'shelf 1')), ErrConflict)
      await rejection(manager.query('SELECT nothing FROM nowhere'), Error)
      await manager.query(name === 'postgres' ? `SELECT set_config('a.b', 'c', true)` : 'SELECT 1')
      await rejection(insert(6, 'shelf 1'), Error)
      await insert(7)
    })
    expect(await ids()).to.deep.equal(['1', '2', '4', '7'])
  })

  it('runs transactions in it one after another, and takes back those that fail alone', async () => {
    await transaction(database, async ({ manager }) => {
      let running = 0
      const nested = (id: number, isFailing: boolean) =>
        manager.transaction(async (inner) => {
          expect(++running).to.equal(1)
          await inner.save(shelf(id))
          await inner.query('SELECT 1')
          await insert(id + 1)
          running--
          if (isFailing) throw new Stop()
        })
      await Promise.all([
        rejection(nested(10, true), Stop),
        rejection(nested(20, true), Stop),
        nested(30, false),
        manager.save(shelf(1)),
      ])
    })
    expect(await ids()).to.deep.equal(['1', '30', '31'])
  })

  it('opens savepoints with its query runner, one after another', async () => {
    await transaction(database, async ({ manager }) => {
      const runner = manager.queryRunner!
      await runner.startTransaction()
      await manager.save(shelf(1))
      await runner.rollbackTransaction()
      await runner.startTransaction()
      await manager.save(shelf(2))
      await runner.commitTransaction()
      await rejection(runner.commitTransaction(), TypeError, 'when its function returns')
      await rejection(runner.release(), TypeError)
      await rejection(runner.connect() as Promise<unknown>, TypeError)
    })
    expect(await ids()).to.deep.equal(['2'])
  })

  it('takes no isolation, and no transaction control as SQL', async () => {
    const texts = [
      'COMMIT',
      ' \n-- a comment\n commit',
      '/* one */ /* two */ ROLLBACK',
      'BEGIN',
      'START TRANSACTION',
      'SAVEPOINT a',
      'RELEASE SAVEPOINT a',
      'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE',
      ...(name === 'sqlite' || name === 'better-sqlite3'
        ? ['END']
        : [`SELECT 'a;b' ; COMMIT`, 'SELECT 1;;ROLLBACK']),
      ...(name === 'mariadb' || name === 'mysql8'
        ? [
            '/*!50000 COMMIT */',
            '# a\nCOMMIT',
            'CREATE TABLE a (b int)',
            'SET autocommit = 1',
            `SELECT 'it\\'s;'; COMMIT`,
          ]
        : []),
    ]
    await transaction(database, async ({ manager, sql }) => {
      await manager.save(shelf(1))
      for (const text of texts) await rejection(manager.query(text), TypeError, 'by SQL')
      await rejection(sql`COMMIT`, TypeError)
      await rejection(
        manager.transaction('SERIALIZABLE', () => Promise.resolve()),
        TypeError,
        'outermost',
      )
      await rejection(manager.queryRunner!.startTransaction('SERIALIZABLE'), TypeError, 'outermost')
      const [row] = await manager.query<{ text: string }[]>(`SELECT 'BEGIN; COMMIT' AS text`)
      expect(row?.text).to.equal('BEGIN; COMMIT')
    })
    expect(await ids()).to.deep.equal(['1'])
  })

  it('tells errors without values', async () => {
    await transaction(database, async ({ manager }) => {
      await manager.insert(Shelf, shelf(1, 'yellow'))
      for (const failing of [manager.insert(Shelf, shelf(2, 'yellow')), manager.save(shelf(3, 'yellow'))]) {
        const error = await rejection(failing, ErrConflict)
        expect(
          JSON.stringify([error, error.message, error.cause, (error.cause as Error | undefined)?.message]),
        ).to.not.include('yellow')
      }
      const missing = await rejection(manager.findOneByOrFail(Shelf, { label: 'yellowbird' }), ErrNotFound)
      expect(missing.message).to.not.include('yellow')
    })
  })

  it('is not awaited: all is rolled back, and the call is named', async () => {
    const failing = transaction(database, ({ manager }) => {
      void manager.save(shelf(1))
      return Promise.resolve()
    })
    await rejection(failing, TypeError, 'did not await manager.save')
    expect(await ids()).to.deep.equal([])
  })

  it('is refused after the end, and that is logged', async () => {
    const failures: CallFailure[] = []
    const context = new RequestContext({ onFailure: (failure) => failures.push(failure) })
    let kept: EntityManager | undefined
    await transaction(
      database,
      async ({ manager }) => {
        kept = manager
        await manager.save(shelf(1))
      },
      { context },
    )
    await context.run(() => rejection(kept!.save(shelf(2)), TypeError, 'has ended'))
    await rejection(
      kept!.transaction(() => Promise.resolve()),
      TypeError,
      'has ended',
    )
    expect(failures.length).to.equal(1)
    expect(await ids()).to.deep.equal(['1'])
  })

  it('writes nothing where the transaction only reads, and tells so', async () => {
    await transaction(
      database,
      async ({ manager }) => {
        expect(await manager.count(Shelf)).to.equal(0)
        await rejection(manager.insert(Shelf, shelf(1)), TypeError, 'readOnly: true')
      },
      { readOnly: true },
    )
    await insert(2)
    expect(await ids()).to.deep.equal(['2'])
  })

  it('writes again after a transaction that only reads, however that has ended', async () => {
    const reading = (fn: (given: TransactionContext) => Promise<unknown>, signal?: AbortSignal) =>
      transaction(database, fn, {
        readOnly: true,
        ...(signal && { context: new RequestContext({ signal }) }),
      })
    const table = database.dialect.text.quote('shelves')
    const ends: readonly ((round: number) => Promise<unknown>)[] = [
      () => reading(({ manager }) => manager.count(Shelf)),
      () =>
        rejection(
          reading(() => Promise.reject(new Stop())),
          Stop,
        ),
      () =>
        rejection(
          reading(({ manager }) => manager.insert(Shelf, shelf(99))),
          TypeError,
          'readOnly: true',
        ),
      () =>
        rejection(
          reading(({ sql }) => sql`DELETE FROM ${() => table}`),
          TypeError,
          'readOnly: true',
        ),
      () =>
        rejection(
          reading(({ manager }) => manager.query(`DROP TABLE ${table}`)),
          TypeError,
        ),
      async () => {
        const controller = new AbortController()
        const gone = reading(({ manager }) => (controller.abort(), manager.count(Shelf)), controller.signal)
        await rejection(gone, Cancelled)
      },
      // One that waits for its turn meanwhile, and one that is over before it begins.
      async (round) => {
        const controller = new AbortController()
        const [, , late] = await Promise.allSettled([
          reading(({ manager }) => manager.count(Shelf)),
          insert(round + 1000),
          reading(({ manager }) => manager.count(Shelf), (controller.abort(), controller.signal)),
        ])
        expect(late.status).to.equal('rejected')
      },
    ]
    // Twice: what is prepared is kept for the next time.
    const written: number[] = []
    for (const round of [0, 1])
      for (const [index, end] of ends.entries()) {
        await end(round)
        const id = 10 + round * ends.length + index
        await insert(id)
        written.push(id)
      }
    expect((await ids()).filter((id) => Number(id) < 1000).map(Number)).to.have.members(written)
  })

  it('sends nothing for a caller who went away', async () => {
    const controller = new AbortController()
    const failing = transaction(
      database,
      async ({ manager }) => {
        controller.abort()
        await manager.save(shelf(1))
      },
      { context: new RequestContext({ signal: controller.signal }) },
    )
    await rejection(failing, Cancelled)
    expect(await ids()).to.deep.equal([])
  })

  if (name === 'mariadb' || name === 'mysql8')
    it('is over when a procedure has ended it', async () => {
      await run(database, 'CREATE PROCEDURE ends() COMMIT')
      const failing = transaction(database, async ({ manager }) => {
        await manager.save(shelf(1))
        await rejection(manager.query('CALL ends()'), Aborted, 'has ended the transaction')
        await rejection(manager.save(shelf(2)), Aborted)
      })
      await rejection(failing, Aborted, 'the database ended the transaction')
      expect(await ids()).to.deep.equal(['1'])
    })

  if (name === 'mariadb' || name === 'postgres')
    it('hands on no connection that somebody has left in a transaction', async () => {
      await run(database, name === 'postgres' ? 'BEGIN' : 'START TRANSACTION')
      await Promise.all(Array.from({ length: 20 }, (_, id) => insert(id)))
      const failing = transaction(database, async ({ manager }) => {
        await rejection(manager.query('SELECT nothing FROM nowhere'), Error)
        throw new Stop()
      })
      await rejection(failing, Stop)
      await Promise.all(Array.from({ length: 20 }, (_, id) => insert(id + 100)))
      expect((await backend.dataSource!.query<unknown[]>('SELECT id FROM shelves')).length).to.equal(40)
    })

  it('tells subscribers of a commit when it has happened', async () => {
    const seen: string[] = []
    const note = async (word: string) => seen.push(`${word} ${(await ids()).length}`)
    const subscriber: EntitySubscriberInterface = {
      beforeTransactionCommit: async ({ manager }: TransactionCommitEvent) => {
        seen.push(`before commit ${await manager.count(Shelf)}`)
      },
      afterTransactionCommit: () => note('after commit') as Promise<never>,
      afterTransactionRollback: (_: TransactionRollbackEvent) => {
        seen.push('after rollback')
      },
    }
    const { subscribers } = backend.dataSource!
    subscribers.push(subscriber)
    try {
      await transaction(database, async ({ manager }) => {
        await manager.save(shelf(1))
        await manager.transaction((inner) => inner.save(shelf(2)))
        await rejection(
          manager.transaction(() => Promise.reject(new Stop())),
          Stop,
        )
        expect(seen).to.deep.equal(['before commit 2', 'after rollback'])
      })
      expect(seen.splice(0)).to.deep.equal([
        ...['before commit 2', 'after rollback', 'before commit 2'],
        ...['after commit 2', 'after commit 2'],
      ])
      await rejection(
        transaction(database, async ({ manager }) => {
          await manager.save(shelf(3))
          throw new Stop()
        }),
        Stop,
      )
      expect(seen).to.deep.equal(['after rollback'])
    } finally {
      subscribers.splice(subscribers.indexOf(subscriber), 1)
    }
  })

  it('holds to all or nothing whichever statement fails', () =>
    everyStatementMayFail(
      backend.dataSource!,
      () => Promise.resolve(),
      () =>
        transaction(database, async ({ manager, sql }) => {
          await manager.save(shelf(1))
          await manager.transaction((inner) => inner.save(shelf(2)))
          await sql`UPDATE shelves SET label = ${'other'} WHERE id = 1`
        }),
      async (outcome) => {
        const left = await ids()
        await run(database, 'DELETE FROM shelves')
        expect(left).to.deep.equal(outcome === 'succeeded' ? ['1', '2'] : [])
      },
    ).then((sent) => expect(sent).to.be.greaterThan(4)))
})
