import { expect } from 'chai'
import { DeclarationError } from '../../../lib/errors.js'
import { consumer } from '../../../lib/events/consumer/consumer.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { rejection } from '../../support/rejection.js'
import { recordingLogger } from '../../support/servers/server.js'

describe('the workers of a server', () => {
  it('start when it serves, and are drained before serve resolves', async () => {
    const seen: string[] = []
    const worker = (name: string) => ({
      start: () => void seen.push(`${name} starts`),
      drain: async () => {
        await Promise.resolve()
        seen.push(`${name} is drained`)
      },
    })
    const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger() })
      .workers(worker('a'), worker('b'))
      .build()
    const ending = new AbortController()
    const serving = server.serve(ending.signal)
    await server.ready()
    expect(seen).to.deep.equal(['a starts', 'b starts'])
    ending.abort()
    await serving
    expect(seen.slice(2).sort()).to.deep.equal(['a is drained', 'b is drained'])
  })

  it('do not start if two consumers have one name', async () => {
    const database = new MemoryDatabase()
    const ledger = (resource: string) =>
      consumer({ name: 'ledger', subject: { resource }, dataSource: database }, () => Promise.resolve())
    const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger() })
      .workers(ledger('booking'), ledger('payment'))
      .build()
    await rejection(
      server.serve(AbortSignal.timeout(10_000)),
      DeclarationError,
      'two consumers of this process are named "ledger", one for booking.* and one for payment.*',
    )
  })

  it('that hang do not keep the server from ending', async function () {
    const worker = { start: () => {}, drain: () => new Promise<void>(() => {}) }
    const server = new ServerBuilder({
      grpcAddr: '127.0.0.1:0',
      logger: recordingLogger(),
      workers: [worker],
    }).build()
    const ending = new AbortController()
    const serving = server.serve(ending.signal)
    await server.ready()
    ending.abort()
    await serving
  })
})
