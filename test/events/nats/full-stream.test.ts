import { expect } from 'chai'
import type { StreamConfig } from '@nats-io/jetstream'
import { natsSink } from '../../../lib/events/nats/nats-sink.js'
import { relay } from '../../../lib/events/relay/relay.js'
import { emit } from '../../../lib/persistence/emit.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { needsNats, testStream } from '../../support/databases/on-nats.js'
import { until } from '../../support/until.js'

const LIMITS: readonly (readonly [string, Partial<StreamConfig>, RegExp])[] = [
  ['bytes', { max_bytes: 2000 }, /maximum bytes exceeded/],
  ['messages', { max_msgs: 2 }, /maximum messages exceeded/],
  [
    'messages per subject',
    { max_msgs_per_subject: 1, discard_new_per_subject: true },
    /maximum messages per subject exceeded/,
  ],
]

describe('a relay to a stream that has no room', () => {
  before(function () {
    needsNats('a relay to a full stream', this)
  })

  for (const [name, limit, text] of LIMITS)
    it(`says why in its status and in one line, and goes on when it has room: ${name}`, async () => {
      const stream = await testStream()
      const { stream: its, prefix } = stream.options
      await stream.manager.streams.add({ name: its, subjects: [`${prefix}.>`], discard: 'new', ...limit })
      const database = new MemoryDatabase()
      const failures: string[] = []
      let tries = 0
      const sink = natsSink(stream.options)
      const worker = relay({
        dataSource: database,
        sink: { ...sink, deliver: (event) => sink.deliver(event).finally(() => tries++) },
        onFailure: ({ message, error }) => failures.push(`${message}: ${(error as Error).message}`),
      })
      worker.start()
      try {
        const data = { text: 'x'.repeat(400) }
        await inAcme(() =>
          database.transaction(async () => {
            for (let key = 0; key < 20; key++)
              await emit({ resource: 'thing', verb: 'told', key: `k${key}`, data })
          }),
        )
        await until(async () => text.test((await worker.status()).problem ?? ''))
        const { problem = '', lag } = await worker.status()
        expect(problem).to.match(/^the stream test_\S+ is full .*: raise its limits/)
        expect(lag).to.be.greaterThan(10)
        // Each of them has failed by then, and the first ones again.
        await until(() => tries > 2 * lag)
        expect(failures).to.have.length(1)
        expect(failures[0]).to.match(text)
        await stream.manager.streams.update(its, {
          max_bytes: -1,
          max_msgs: -1,
          max_msgs_per_subject: -1,
          discard_new_per_subject: false,
        })
        await until(async () => (await worker.status()).lag === 0)
        expect(await worker.status()).to.not.have.property('problem')
      } finally {
        await worker.drain()
        await stream.close()
      }
    })
})
