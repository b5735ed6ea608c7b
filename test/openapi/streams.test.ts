import { expect } from 'chai'
import { AshlarError } from '../../lib/errors.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { echoService } from '../support/grpc/echo.js'
import { Described, type JsonObject } from '../support/openapi/described.js'
import { DescribedClient } from '../support/openapi/described-client.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'

const MESSAGE = '/components/schemas/specimens.v1.EchoResponse'

describe('the OpenAPI document of a service with streams', () => {
  let running: RunningServer
  let client: DescribedClient
  before(async () => {
    const service = {
      ...echoService,
      count: async function* ({ upto }: { upto: number }) {
        if (upto < 0) throw new AshlarError('INVALID_ARGUMENT', 'upto: has to be positive')
        yield* echoService.count({ upto })
        if (upto === 3) throw new AshlarError('ABORTED', 'changed')
      },
    }
    running = await startServer((builder) => builder.register(EchoService, service), {
      gateway: { openapi: true },
    })
    const text = await (await fetch(`${running.http}/openapi.json`)).text()
    client = new DescribedClient(new Described(text), running.http, ALICE)
  })
  after(() => running.stop())

  /** Each part of a stream is what the document says of the message, or of an error. */
  const problemsIn = (lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => {
      const { result, error } = JSON.parse(line) as { result?: JsonObject; error?: JsonObject }
      return error === undefined
        ? client.described.check(MESSAGE, result)
        : client.described.check('/components/responses/Error/content/application~1json/schema', error)
    })

  it('says in which form they come, each of which is what it is', async () => {
    for (const [accept, type, prefix] of [
      ['application/x-ndjson', 'application/x-ndjson', ''],
      ['text/event-stream', 'text/event-stream', 'data: '],
    ] as const) {
      const { headers, body } = await client.call('Count', 200, { query: 'upto=2', headers: { accept } })
      expect(headers.get('content-type')).to.include(type)
      const lines = String(body).trim().split(/\n+/)
      expect(lines).to.have.length(2)
      if (prefix === '') expect(problemsIn(lines)).to.deep.equal([])
      else for (const line of lines) expect(line.startsWith(prefix), line).to.equal(true)
    }
  })

  it('says which errors come before them, and how those are read that come behind', async () => {
    await client.call('Count', 400, { query: 'upto=-1' })
    const { body } = await client.call('Count', 200, { query: 'upto=3' })
    const lines = String(body).trim().split('\n')
    expect(lines).to.have.length(4)
    expect(JSON.parse(lines[3] ?? '')).to.have.nested.property('error.code', 10)
    expect(problemsIn(lines)).to.deep.equal([])
  })

  it('describes all other methods beside them, and leaves out streams of requests', async () => {
    const call = client.call.bind(client)
    const body = { text: 'a', number: '7', words: ['b'], nested: { leaf: 'c' } }
    await call('Echo', 200, { body })
    await call('Echo_1', 200, { query: 'text=a&number=7&words=b' })
    await call('Echo_2', 200, { path: { 'nested.leaf': 'c' }, body: { size: 1 } })
    await call('Ping', 200)
    await call('Download', 200)
    for (const operation of client.described.operations)
      if (operation.variables.length === 0) await client.provoke(operation)
    expect(client.described.operations.some(({ operationId }) => /Collect|Chat/.test(operationId))).to.equal(
      false,
    )
    // An echo finds whatever it is asked for, and refuses none.
    expect(
      client.missing().filter((one) => !/ (404|409)$/.test(one) && !/Echo_[23] /.test(one)),
    ).to.deep.equal([])
  })
})
