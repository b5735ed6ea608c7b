import { expect } from 'chai'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
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
