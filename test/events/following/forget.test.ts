import { expect } from 'chai'
import { AshlarError } from '../../../lib/errors.js'
import { consumer } from '../../../lib/events/consumer/consumer.js'
import { Lease } from '../../../lib/events/store/lease.js'
import { Markers } from '../../../lib/events/store/markers.js'
import { Outbox } from '../../../lib/events/following/outbox.js'
import { relay } from '../../../lib/events/relay/relay.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { agedRows, column, run } from '../../support/databases/statement.js'
import { rejection } from '../../support/rejection.js'
import { openOutbox, type OutboxSubject } from '../outbox-subject.js'
import { until } from '../../support/until.js'

const HOUR_MS = 3_600_000

describeOn('a cursor', databases, (backend) => {
  let subject: OutboxSubject
  before(async () => {
    subject = await openOutbox(backend)
  })
  after(() => subject?.close())

  const sink = { deliver: () => Promise.resolve(), close: () => Promise.resolve() }
  const left = () => column(subject.database, 'SELECT aggregate_id FROM outbox')

  it('says whether its worker runs and when it was last seen, and keeps events until it is forgotten', async () => {
    const { dataSource } = subject
    const outbox = new Outbox(dataSource)
    const named = async (name: string) => (await outbox.status()).cursors.find((one) => one.name === name)
    const gone = relay({ dataSource, name: 'gone', sink, leaseMs: 1000 })
    gone.start()
    await subject.tell('a')
    await until(async () => (await gone.status()).lag === 0 && (await gone.status()).position === 1)
    expect(await named('relay:gone')).to.include({ isRunning: true })
    await rejection(outbox.forget('relay:gone'), AshlarError, 'relay:gone is running: stop it first')
    await gone.drain()
    const seen = await named('relay:gone')
    expect(seen).to.include({ isRunning: false, position: 1 })
    expect(seen?.lastSeen?.getTime()).to.be.closeTo(Date.now(), 60_000)

    const works = relay({ dataSource, name: 'works', sink, leaseMs: 1000 })
    works.start()
    try {
      for (const key of ['b', 'c']) await subject.tell(key)
      await until(async () => (await works.status()).position === 3)
      await until(async () => (await left()).sort().join() === 'b,c')
      expect(await outbox.forget('relay:nobody')).to.equal(false)
      expect(await outbox.forget('relay:gone')).to.equal(true)
      await until(async () => (await left()).length === 0)
      expect(await named('relay:gone')).to.equal(undefined)
      expect(
        await column(subject.database, `SELECT name FROM outbox_leases WHERE name = 'relay:gone'`),
      ).to.deep.equal([])
    } finally {
      await works.drain()
    }
  })

  it('of a process that died is forgotten when its lease is over', async () => {
    const { database, dataSource } = subject
    const died = new Lease(database, 'relay:died', HOUR_MS)
    await died.acquire()
    await relay({ dataSource, name: 'died', sink }).status()
    const outbox = new Outbox(dataSource)
    await rejection(outbox.forget('relay:died'), AshlarError)
    await agedRows(database, 'outbox_leases', ['lease_until'], HOUR_MS)
    expect(await outbox.forget('relay:died')).to.equal(true)
  })

  it('takes its dead letters along, and its markers but for those of a consumer of that name elsewhere', async () => {
    const { database, dataSource } = subject
    const outbox = new Outbox(dataSource)
    const bad = consumer(
      { name: 'a_b', dataSource, maxAttempts: 1, leaseMs: 1000, onFailure: () => {} },
      ({ key }) => (key === 'bad' ? Promise.reject(new TypeError('no')) : Promise.resolve()),
    )
    bad.start()
    for (const key of ['good', 'bad']) await subject.tell(key)
    await until(async () => (await outbox.deadLetters()).length === 1 && (await bad.status()).lag === 0)
    await bad.drain()
    const like = new Markers(database, 'axb', 0)
    expect(await like.mark(database, 'acme', 'theirs')).to.equal(true)
    const markers = async () =>
      new Set(
        (await column(database, `SELECT ${database.dialect.text.quote('key')} FROM idempotency_markers`)).map(
          (key) => key.split(':')[0],
        ),
      )
    expect(await markers()).to.deep.equal(new Set(['a_b', 'axb']))
    await run(database, `INSERT INTO outbox_dispatch_cursor (name, log_position) VALUES ('stream:a_b', 0)`)
    expect(await outbox.forget('consumer:a_b')).to.equal(true)
    expect(await outbox.deadLetters()).to.deep.equal([])
    expect(await markers()).to.deep.equal(new Set(['a_b', 'axb']))
    expect(await outbox.forget('stream:a_b')).to.equal(true)
    expect(await markers()).to.deep.equal(new Set(['axb']))
    expect((await outbox.status()).cursors.map(({ name }) => name)).to.deep.equal(['relay:works'])
  })
})
