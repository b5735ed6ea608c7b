import { expect } from 'chai'
import { Sequencer } from '../../../lib/events/log/sequencer.js'
import { bytesOf, sqlText } from '../../../lib/persistence/engines/sql-text.js'
import { cloudEvent } from '../../../lib/persistence/outbox/events/cloud-event.js'
import { OutboxWriter } from '../../../lib/persistence/outbox/sql/outbox-writer.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { type Backend, databases, describeOn } from '../../support/databases/backends.js'
import { run } from '../../support/databases/statement.js'
import { until } from '../../support/until.js'
import { held, logged, openOutbox, type OutboxSubject } from '../outbox-subject.js'

/** SQLite has one writer at a time, so that nobody commits while another has an event open. */
const severalWriters = databases.filter(({ name }) => name !== 'sqlite' && name !== 'better-sqlite3')

interface Cursor {
  readonly name: string
  /** The columns that a reader remembers, and orders by. */
  readonly columns: readonly string[]
  readonly where?: string
}

interface Reader {
  readonly seen: Set<string>
  last?: readonly unknown[]
}

/** What others follow. */
const CURSORS: readonly Cursor[] = [
  { name: 'the time and the id of an event', columns: ['created_time', 'id'] },
  { name: 'its position', columns: ['position'] },
]

/**
 * Below the horizon of PostgreSQL no transaction runs. Positions are drawn later than the ids of
 * transactions, in another order.
 */
const HORIZON: Cursor = {
  name: 'its position below the horizon',
  columns: ['position'],
  where: 'xmin::text::bigint < pg_snapshot_xmin(pg_current_snapshot())::text::bigint',
}

describeOn('the sequencer', databases, (backend) => {
  const holder = subjectOn(backend)
  const keys = async () => (await logged(holder.subject)).map(({ key }) => key)

  it('gives committed events a place in the order of their positions, without gaps', async () => {
    for (const key of ['a', 'b', 'c']) await holder.subject.tell(key)
    expect(await holder.sequencer.assignAll()).to.equal(3)
    const events = await logged(holder.subject)
    expect(events.map(({ key, log }) => [key, log])).to.deep.equal([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    expect(await holder.sequencer.assignAll()).to.equal(0)
  })

  it('continues after the events that were removed', async () => {
    await holder.subject.tell('a')
    await holder.sequencer.assignAll()
    await run(holder.subject.database, 'DELETE FROM outbox')
    await holder.subject.tell('b')
    await holder.sequencer.assignAll()
    expect((await logged(holder.subject)).map(({ log }) => log)).to.deep.equal([2])
  })

  it('takes more events than one transaction does', async () => {
    const { database } = holder.subject
    const events = Array.from({ length: 2300 }, (_, at) => event(`k${at}`))
    await OutboxWriter.of(database).append(database, events)
    expect(await holder.sequencer.assignAll()).to.equal(2300)
    const found = await logged(holder.subject)
    expect(found.map(({ log }) => log)).to.deep.equal(found.map((_, at) => at + 1))
    expect(found.map(({ key }) => key)).to.deep.equal(found.map((_, at) => `k${at}`))
  })

  it('gives each event one place when several work at the same time', async () => {
    const { database, tell } = holder.subject
    const others = [holder.sequencer, new Sequencer(database), new Sequencer(database)]
    let isOver = false
    const working = others.map(async (one) => {
      let count = 0
      while (!isOver) count += await one.assign()
      return count
    })
    for (let at = 0; at < 60; at++) await tell(`k${at}`)
    isOver = true
    const counts = await Promise.all(working)
    const last = await holder.sequencer.assignAll()
    expect(counts.reduce((sum, count) => sum + count, last)).to.equal(60)
    const events = await logged(holder.subject)
    expect(events.map(({ log }) => log)).to.deep.equal(Array.from({ length: 60 }, (_, at) => at + 1))
  })

  it('keeps the order of the changes of a resource, whoever writes it', async () => {
    const { counters, database } = holder.subject
    await inAcme(() => counters.create({ id: 'one', number: 0 }))
    let isOver = false
    const working = (async () => {
      while (!isOver) await holder.sequencer.assign()
    })()
    const write = async () => {
      for (let at = 0; at < 15; at++)
        await inAcme(() => counters.modify('one', (counter) => ({ number: counter.number + 1 })))
    }
    await Promise.all([write(), write(), write()])
    isOver = true
    await working
    await holder.sequencer.assignAll()
    const payload = sqlText(database).bytesIn('payload')
    const { rows } = await run(database, `SELECT ${payload} FROM outbox ORDER BY log_position`)
    const numbers = rows.map(
      ([bytes]) =>
        (JSON.parse(bytesOf(bytes).toString()) as { data: { resource: { number?: number } } }).data.resource
          .number,
    )
    expect(numbers.slice(1)).to.deep.equal(Array.from({ length: 45 }, (_, at) => at + 1))
  })

  it('numbers the events of the tenants that ask for it', async () => {
    const { database, tell } = holder.subject
    await holder.sequencer.assignAll()
    const policy = 'INSERT INTO tenant_event_policy (tenant_id, policy, event_epoch) VALUES (?, ?, 7)'
    // The first call has made the tables where no migration does.
    await tell('first', { tenant: 'other' })
    await holder.sequencer.assignAll()
    await run(database, policy, ['acme', 1])
    await run(database, policy, ['none', 0])
    for (const tenant of ['acme', 'other', 'none', 'acme', '']) await tell('k', { tenant })
    await holder.sequencer.assignAll()
    await tell('k')
    await holder.sequencer.assignAll()
    const events = await logged(holder.subject)
    expect(events.map(({ account, seq }) => `${account}:${seq}`)).to.deep.equal([
      'other:0',
      'acme:1',
      'other:0',
      'none:0',
      'acme:2',
      ':0',
      'acme:3',
    ])
    const { rows } = await run(
      database,
      "SELECT COUNT(*) FROM outbox WHERE event_epoch = 7 AND account_id = 'acme'",
    )
    expect(Number(rows[0]?.[0])).to.equal(3)
  })

  if (severalWriters.includes(backend)) {
    it('does not count an event that was rolled back, and not one that is not committed yet', async () => {
      const { subject, sequencer } = holder
      const gone = await held(subject, 'gone')
      const late = await held(subject, 'late')
      await subject.tell('quick')
      await sequencer.assignAll()
      expect(await keys()).to.deep.equal(['quick'])
      await gone.rollBack()
      await late.commit()
      await sequencer.assignAll()
      expect((await logged(subject)).map(({ key, log }) => [key, log])).to.deep.equal([
        ['quick', 1],
        ['late', 2],
      ])
    })

    it('numbers without gaps although transactions are rolled back', async () => {
      const { subject, sequencer } = holder
      await run(subject.database, "INSERT INTO tenant_event_policy (tenant_id, policy) VALUES ('acme', 1)")
      const late = await held(subject, 'late')
      const gone = await held(subject, 'gone')
      await subject.tell('a')
      await gone.rollBack()
      await sequencer.assignAll()
      await late.commit()
      await sequencer.assignAll()
      expect((await logged(subject)).map(({ key, seq }) => [key, seq])).to.deep.equal([
        ['a', 1],
        ['late', 2],
      ])
    })

    it('keeps no writer waiting', async () => {
      const { subject, sequencer } = holder
      for (let at = 0; at < 5; at++) await subject.tell(`k${at}`)
      const open = await held(subject, 'open')
      expect(await sequencer.assignAll()).to.equal(5)
      await subject.tell('next')
      expect(await sequencer.assignAll()).to.equal(1)
      await open.commit()
    })

    describe('under long transactions', () => {
      for (const cursor of CURSORS)
        it(`loses nothing, while a reader that follows ${cursor.name} does`, async () => {
          const { subject, sequencer } = holder
          const reader = { seen: new Set<string>(), read: () => readOn(subject, cursor, reader) }
          const sequenced = new Set<string>()
          const follow = async () => {
            await reader.read()
            await sequencer.assignAll()
            for (const key of await keys()) sequenced.add(key)
          }
          const early = await held(subject, 'early')
          await subject.tell('between')
          await follow()
          await early.commit()
          await subject.tell('after')
          await follow()
          expect([...sequenced].sort()).to.deep.equal(['after', 'between', 'early'])
          expect([...reader.seen].sort()).to.deep.equal(['after', 'between'])
        })
    })

    if (backend.name === 'postgres')
      it(`loses nothing, while a reader that follows ${HORIZON.name} does`, async () => {
        const { subject, sequencer } = holder
        const reader: Reader = { seen: new Set() }
        const open = await subject.database.lease()
        await open.control('BEGIN')
        // It has its id now, and draws its position later.
        await run(open, 'SELECT pg_current_xact_id()')
        const later = await held(subject, 'later')
        await OutboxWriter.of(subject.database).append(open, [event('elder')])
        await open.control('COMMIT')
        open.release()
        // Transactions of other databases of the server hold the horizon back, too.
        await until(async () => {
          await readOn(subject, HORIZON, reader)
          return reader.seen.size > 0
        })
        await sequencer.assignAll()
        await later.commit()
        await readOn(subject, HORIZON, reader)
        await sequencer.assignAll()
        expect([...reader.seen]).to.deep.equal(['elder'])
        expect(await keys()).to.deep.equal(['elder', 'later'])
      })
  }
})

const event = (key: string) =>
  cloudEvent(
    { source: '/t', resource: 'thing', verb: 'told', key, tenant: 'acme', data: {} },
    { requestId: '' },
  )

interface Holder {
  readonly subject: OutboxSubject
  readonly sequencer: Sequencer
}

function subjectOn(backend: Backend): Holder {
  const holder = {} as { subject: OutboxSubject; sequencer: Sequencer }
  beforeEach(async () => {
    holder.subject = await openOutbox(backend)
    holder.sequencer = new Sequencer(holder.subject.database)
  })
  afterEach(() => holder.subject.close())
  return holder
}

async function readOn(
  { database }: OutboxSubject,
  { columns, where = '1 = 1' }: Cursor,
  reader: Reader,
): Promise<void> {
  const { last } = reader
  const list = columns.join(', ')
  const beyond = last === undefined ? '' : ` AND (${list}) > (${columns.map(() => '?').join(', ')})`
  const { rows } = await run(
    database,
    `SELECT aggregate_id, ${list} FROM outbox WHERE ${where}${beyond} ORDER BY ${list}`,
    last ?? [],
  )
  for (const [key, ...values] of rows) {
    reader.seen.add(String(key))
    reader.last = values
  }
}
