import { expect } from 'chai'
import { DeadLetters } from '../../../lib/events/store/sql-dead-letters.js'
import { natsSink } from '../../../lib/events/nats/nats-sink.js'
import type { EventWorker } from '../../../lib/events/following/event-worker.js'
import { relay, type RelayOptions } from '../../../lib/events/relay/relay.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { needsNats, type TestStream, testStream } from '../../support/databases/on-nats.js'
import { run } from '../../support/databases/statement.js'
import { freePort } from '../../support/free-port.js'
import { ownServer } from '../../support/running/start-services.js'
import { openOutbox, type OutboxSubject } from '../outbox-subject.js'
import { until } from '../../support/until.js'

describeOn('a relay to NATS', databases, (backend) => {
  let [subject, stream]: [OutboxSubject, TestStream] = [] as never
  const workers: EventWorker[] = []
  const failures: string[] = []

  before(function () {
    needsNats(`a relay to NATS on ${backend.name}`, this)
  })
  beforeEach(async () => {
    ;[subject, stream] = [await openOutbox(backend), await testStream()]
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((one) => one.drain()))
    failures.splice(0)
    await subject?.close()
    await stream?.close()
  })

  const started = (options: Partial<RelayOptions> = {}) => {
    const made = relay({
      ...{ dataSource: subject.dataSource, sink: natsSink(stream.options), leaseMs: 2000 },
      onFailure: ({ error }) => failures.push(String((error as { cause?: unknown }).cause ?? error)),
      ...options,
    })
    workers.push(made)
    made.start()
    return made
  }
  const count = async () => {
    try {
      return (await stream.manager.streams.info(stream.options.stream)).state.messages
    } catch {
      return 0
    }
  }

  it('makes the stream, and sends each change on its subject with its id', async () => {
    started()
    await inAcme(() => subject.counters.create({ id: 'c', number: 1 }))
    await inAcme(() => subject.counters.update('c', { number: 2 }, ['number']))
    await until(async () => (await count()) === 2)
    const { config } = await stream.manager.streams.info(stream.options.stream)
    expect(config).to.include({ retention: 'limits', storage: 'file', duplicate_window: 120e9 })
    const { prefix } = stream.options
    const messages = await stream.messages()
    expect(messages.map((one) => one.subject)).to.deep.equal([
      `${prefix}.acme.counter.created`,
      `${prefix}.acme.counter.updated`,
    ])
    for (const { id, event, header } of messages) {
      expect(event).to.include({ specversion: '1.0', id, accountid: 'acme', partitionkey: 'c' })
      expect(header('content-type')).to.equal('application/cloudevents+json')
      expect(header('ashlar-event-seq')).to.equal('')
    }
  })

  it('sends the number of an event among those of its tenant', async () => {
    const one = started()
    await one.status()
    await run(
      subject.database,
      "INSERT INTO tenant_event_policy (tenant_id, policy, event_epoch) VALUES ('acme', 1, 4)",
    )
    for (let at = 0; at < 3; at++) await subject.tell('k')
    await until(async () => (await count()) === 3)
    const numbers = (await stream.messages()).map(({ header }) => [
      header('ashlar-event-seq'),
      header('ashlar-event-epoch'),
    ])
    expect(numbers).to.deep.equal([
      ['1', '4'],
      ['2', '4'],
      ['3', '4'],
    ])
  })

  it('stores what comes twice once', async () => {
    const one = started()
    await subject.tell('k')
    await until(async () => (await one.status()).position === 1)
    await one.drain()
    await subject.tellUnheard('later')
    // As if it had died before it saved its cursor.
    await run(subject.database, 'UPDATE outbox_dispatch_cursor SET log_position = 0 WHERE name = ?', [
      'relay:nats',
    ])
    started()
    await until(async () => (await count()) === 2)
    expect((await stream.messages()).map(({ event }) => event.partitionkey)).to.deep.equal(['k', 'later'])
  })

  it('sends an event of more than 512 KiB without its data, and says so', async () => {
    started()
    await subject.tell('large', { data: { text: 'x'.repeat(513 * 1024) } })
    await subject.tell('small', { data: { text: 'x' } })
    await until(async () => (await count()) === 2)
    const [large, small] = await stream
      .messages()
      .then((all) =>
        all.sort((a, b) => String(a.event.partitionkey).localeCompare(String(b.event.partitionkey))),
      )
    expect(large?.event).to.include({ truncated: true, partitionkey: 'large', type: 'thing.told' })
    expect(large?.event).to.not.have.property('data')
    expect(small?.event).to.not.have.property('truncated')
    expect(small?.event.data).to.deep.equal({ text: 'x' })
  })

  it('gives up what the stream refuses, and delivers the rest', async () => {
    const { stream: name, prefix } = stream.options
    await stream.manager.streams.add({ name, subjects: [`${prefix}.>`], max_msg_size: 2000 })
    started({ maxAttempts: 2 })
    await subject.tell('large', { data: { text: 'x'.repeat(5000) } })
    await subject.tell('small')
    await until(async () => (await new DeadLetters(subject.database).list(10)).length === 1)
    await until(async () => (await count()) === 1)
    const [letter] = await new DeadLetters(subject.database).list(10)
    expect(letter?.reason).to.contain('exceeds maximum')
  })

  it('sends nothing to a stream that is made for something else, and says so', async () => {
    const { stream: name, prefix } = stream.options
    await stream.manager.streams.add({ name, subjects: [`${prefix}.>`], retention: 'workqueue' })
    started()
    await subject.tell('k')
    await until(() => failures.some((text) => text.includes('workqueue')))
    expect(await count()).to.equal(0)
    await stream.manager.streams.delete(name)
    await until(async () => (await count()) === 1)
  })

  it('begins before NATS does, and goes on when NATS was restarted', async function () {
    const port = await freePort()
    const servers = `nats://127.0.0.1:${port}`
    started({ sink: natsSink({ ...stream.options, servers }) })
    await subject.tell('a')
    await until(() => failures.length > 0)
    const own = await ownServer('nats', this, port)
    try {
      const its = await testStream(servers)
      const stored = async () =>
        (await its.manager.streams.info(stream.options.stream).catch(() => undefined))?.state.messages
      await until(async () => (await stored()) === 1)
      await own.restart()
      await subject.tell('b')
      await until(async () => (await stored()) === 2, 25_000)
      await its.connection.close()
    } finally {
      await Promise.all(workers.splice(0).map((one) => one.drain()))
      await own.stop()
    }
  })
})
