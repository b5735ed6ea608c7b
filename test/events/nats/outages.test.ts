import { expect } from 'chai'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { consumer } from '../../../lib/events/consumer/consumer.js'
import type { EventWorker } from '../../../lib/events/following/event-worker.js'
import { Outbox } from '../../../lib/events/following/outbox.js'
import type { NatsOptions } from '../../../lib/events/nats/nats-options.js'
import { natsSink } from '../../../lib/events/nats/nats-sink.js'
import { relay } from '../../../lib/events/relay/relay.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { needsNats, type TestStream, testStream } from '../../support/databases/on-nats.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { openOutbox, type OutboxSubject } from '../outbox-subject.js'
import { until } from '../../support/until.js'

/** The same on every database: what fails here is NATS. */
const one = databases.filter(({ name }) => name === 'sqlite')

/** A client that waits for its next request is at it for half a minute. */
const AT_ONCE_MS = 25_000

describeOn('a relay and a consumer', one, (backend) => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-nats-outages-'))
  let [server, stream, subject]: [StartedService, TestStream, OutboxSubject] = [] as never
  let workers: EventWorker[] = []
  let keys: string[] = []

  before(async function () {
    needsNats('a relay and a consumer while NATS fails', this)
    chmodSync(folder, 0o755)
    const path = join(folder, 'nats.conf')
    writeFileSync(path, 'max_payload: 16384')
    server = await ownServer('nats', this, undefined, ['-c', path])
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    ;[subject, stream] = [await openOutbox(backend), await testStream(server.url)]
    ;[workers, keys] = [[], []]
    const options: NatsOptions = stream.options
    begin(relay({ dataSource: subject.dataSource, sink: natsSink(options), onFailure: () => {} }))
    begin(
      consumer(
        { name: 'test', dataSource: subject.dataSource, nats: options, onFailure: () => {} },
        ({ key, isTruncated }) => Promise.resolve(keys.push(isTruncated ? `${key}, truncated` : key)),
      ),
    )
    await subject.tell('first')
    await until(() => keys.length === 1)
  })
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.drain()))
    await subject?.close()
    await stream?.close()
  })

  const begin = (worker: EventWorker) => {
    workers.push(worker)
    worker.start()
  }

  it('go on at once when NATS was restarted', async () => {
    for (const key of ['second', 'third']) {
      await server.restart()
      await subject.tell(key)
      await until(() => keys.includes(key), AT_ONCE_MS)
    }
    expect(keys).to.deep.equal(['first', 'second', 'third'])
  })

  it('go on in the stream that is made again when theirs was deleted', async () => {
    await stream.manager.streams.delete(stream.options.stream)
    for (const key of ['second', 'third']) {
      await subject.tell(key)
      await until(() => keys.includes(key), AT_ONCE_MS)
    }
    expect(keys).to.deep.equal(['first', 'second', 'third'])
    expect((await stream.messages()).map(({ event }) => event.partitionkey)).to.deep.equal([
      'second',
      'third',
    ])
  })

  it('leave nothing out when the stream was made anew, and has more than the old one had', async () => {
    const { stream: name, prefix } = stream.options
    await stream.manager.streams.delete(name)
    await stream.manager.streams.add({ name, subjects: [`${prefix}.>`] })
    const others = ['second', 'third', 'fourth']
    for (const key of others) await subject.tell(key)
    await until(() => others.every((key) => keys.includes(key)), AT_ONCE_MS)
    expect([...keys].sort()).to.deep.equal(['first', ...others].sort())
  })

  it('send and get an event without its data where the server takes less', async () => {
    await subject.tell('large', { data: { text: 'x'.repeat(20_000) } })
    await subject.tell('larger', { data: { text: 'x'.repeat(1_500_000) } })
    await subject.tell('small', { data: { text: 'x'.repeat(10_000) } })
    await until(() => keys.length === 4)
    expect(keys.slice(1).sort()).to.deep.equal(['large, truncated', 'larger, truncated', 'small'])
    expect(await new Outbox(subject.dataSource).deadLetters()).to.deep.equal([])
  })

  it('end at whatever moment of their connecting', async () => {
    for (let ms = 0; ms < 20; ms++) {
      const dataSource = new MemoryDatabase()
      const worker = consumer({ name: 'early', dataSource, nats: stream.options }, () => Promise.resolve())
      worker.start()
      await pause(ms)
      await worker.drain()
    }
  })
})
