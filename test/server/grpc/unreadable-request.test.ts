import { expect } from 'chai'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { RawGrpc } from '../../support/grpc/raw-grpc.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const GARBAGE = Buffer.from([0, 0, 0, 0, 3, 255, 255, 255])

describe('a request that cannot be read', () => {
  let running: RunningServer
  let raw: RawGrpc
  const taken: string[] = []
  before(async () => {
    running = await startServer((builder) => builder.register(EchoService, echoService), {
      resilience: { rateLimiter: { consume: async (key: string) => void taken.push(key) } },
    })
    raw = new RawGrpc(running.grpc)
  })
  after(async () => {
    raw.close()
    await running.stop()
  })
  beforeEach(() => {
    running.records.length = 0
    taken.length = 0
  })

  const recorded = () =>
    running.records.map(({ message, fields }) => [message, fields['code'], fields['requestId']])

  for (const method of ['Echo', 'Count'])
    it(`of ${method} is limited and logged over gRPC, under the id that its caller is told`, async () => {
      const { code, requestId } = await raw.call(method, { ...ALICE, 'x-request-id': 'mine' }, GARBAGE)
      expect([code, requestId]).to.deep.equal([3, 'mine'])
      expect(recorded()).to.deep.equal([['rpc', 'INVALID_ARGUMENT', 'mine']])
      expect(taken).to.have.length(1)
    })

  for (const [what, status, path, init] of [
    [
      'a body',
      400,
      '/v1/echo',
      { method: 'POST', body: '{"text":', headers: { 'content-type': 'application/json' } },
    ],
    [
      'a type',
      415,
      '/v1/echo',
      { method: 'POST', body: 'text=a', headers: { 'content-type': 'text/plain' } },
    ],
    ['a query', 400, '/v1/echo?nope=1', {}],
  ] as const)
    it(`for ${what} is limited and logged over HTTP, under the id that its caller is told`, async () => {
      const headers = { ...ALICE, 'x-request-id': 'mine', ...('headers' in init ? init.headers : {}) }
      const answer = await fetch(running.http + path, { ...init, headers })
      expect([answer.status, answer.headers.get('x-request-id')]).to.deep.equal([status, 'mine'])
      expect(recorded()).to.deep.equal([['rpc', 'INVALID_ARGUMENT', 'mine']])
      expect(taken).to.have.length(1)
    })

  it('has an id where its caller sent no message', async () => {
    const { code, requestId } = await raw.call('Echo', { ...ALICE, 'x-request-id': 'mine' }, Buffer.alloc(0))
    expect([code, requestId]).to.deep.equal([12, 'mine'])
  })
})
