import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { create } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import type { ServerCall } from '../../../lib/call.js'
import { jsonLogger } from '../../../lib/server/observability/logger.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { testServer } from '../../../lib/testing/harness/test-server.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import {
  ALICE,
  type LogRecord,
  recordingLogger,
  type RunningServer,
  startServer,
} from '../../support/servers/server.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

const specimens = new MemoryRepository(Specimen, { minter: new CredentialMinter() })
const notes = new MemoryRepository(Note)

/** Reads as system, each resource more often than once. */
const look = (reason: string, tenant?: string) =>
  RequestContext.asSystem({ reason, ...(tenant === undefined ? {} : { tenant }) }, async () => {
    for (let times = 0; times < 3; times++) {
      await specimens.list()
      await notes.list()
    }
    await specimens.get('nobody', { context: RequestContext.current() }).catch(() => {})
    return { text: 'seen' }
  })

const usesIn = (records: readonly LogRecord[]) => records.filter(({ message }) => message === 'asSystem')

describe('the log of asSystem', () => {
  let running: RunningServer
  let client: ForeignClient
  let ended: Promise<unknown> | undefined
  before(async () => {
    running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: ({ text }) => look(text),
        ping: async (_request, call: ServerCall) => {
          const { name } = await call.operations.start(
            { metadata: create(EmptySchema) },
            () => (ended = look('in the background').then(() => create(EmptySchema))) as never,
          )
          return { text: name }
        },
        count: async function* () {
          await look('in a stream')
          yield { text: 'seen' }
        },
      }),
    )
    client = new ForeignClient(EchoService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })
  beforeEach(() => void running.records.splice(0))

  const record = (requestId: string, reason: string, resource: string): LogRecord => ({
    level: 'info',
    message: 'asSystem',
    fields: { requestId, principal: { subject: 'alice', tenant: 'acme' }, reason, resource, tenant: '*' },
  })

  it("is a record of the server's logger for each resource of a call, with id, principal and reason", async () => {
    await client.unary('Echo', { text: 'to count' }, { ...ALICE, 'x-request-id': 'over-grpc' })
    await fetch(`${running.http}/v1/echo?text=to%20mend`, {
      headers: { ...ALICE, 'x-request-id': 'over-http' },
    })
    expect(usesIn(running.records)).to.deep.equal([
      record('over-grpc', 'to count', 'specimen'),
      record('over-grpc', 'to count', 'note'),
      record('over-http', 'to mend', 'specimen'),
      record('over-http', 'to mend', 'note'),
    ])
  })

  it('has the uses of a stream, and of work that outlives its call', async () => {
    await client.stream('Count', [{ upto: 1 }], { ...ALICE, 'x-request-id': 'streamed' })
    await client.unary('Ping', {}, { ...ALICE, 'x-request-id': 'started' })
    await ended
    expect(usesIn(running.records)).to.deep.equal([
      record('streamed', 'in a stream', 'specimen'),
      record('streamed', 'in a stream', 'note'),
      record('started', 'in the background', 'specimen'),
      record('started', 'in the background', 'note'),
    ])
  })

  it('has each use, also of a scope that is used again', async () => {
    const scope = { reason: 'shared', tenant: 'globex' }
    for (let times = 0; times < 2; times++) await RequestContext.asSystem(scope, () => notes.list())
    await RequestContext.asSystem(scope, async () => {
      await notes.list()
      await RequestContext.asSystem({ reason: 'inside' }, () => notes.list())
      await notes.list()
    })
    expect(usesIn(running.records).map(({ fields }) => [fields['reason'], fields['tenant']])).to.deep.equal([
      ['shared', 'globex'],
      ['shared', 'globex'],
      ['shared', 'globex'],
      ['inside', '*'],
    ])
  })

  it('has the reason that was given, though it is changed before the first use', async () => {
    const scope = { reason: 'honest', tenant: 'acme' }
    await RequestContext.asSystem(scope, async () => {
      Object.assign(scope, { reason: 'changed', tenant: 'globex' })
      await notes.list()
    })
    const [use] = usesIn(running.records)
    expect([use?.fields['reason'], use?.fields['tenant']]).to.deep.equal(['honest', 'acme'])
  })

  it('has uses of a context that was made by hand', async () => {
    await notes.list(
      {},
      { context: new RequestContext({ requestId: 'job 7', system: { reason: 'nightly' } }) },
    )
    expect(
      usesIn(running.records).map(({ fields }) => [fields['requestId'], fields['reason']]),
    ).to.deep.equal([['job 7', 'nightly']])
  })

  it('has nothing where nobody is the system', async () => {
    await RequestContext.as({ tenant: 'acme' }, () => specimens.list())
    expect(usesIn(running.records)).to.deep.equal([])
  })

  it('has a use that reaches nothing through a repository, once it is over, whatever came of it', async () => {
    const fail = () => {
      throw new Error('failed')
    }
    expect(RequestContext.asSystem({ reason: 'at once' }, () => 7)).to.equal(7)
    expect(() => RequestContext.asSystem({ reason: 'thrown', tenant: 'acme' }, fail)).to.throw('failed')
    let settle = () => {}
    const later = RequestContext.asSystem(
      { reason: 'later' },
      () => new Promise<void>((resolve) => (settle = resolve)),
    )
    const reasons = () =>
      usesIn(running.records).map(({ fields }) => [fields['reason'], fields['tenant'], fields['resource']])
    const first = [
      ['at once', '*', ''],
      ['thrown', 'acme', ''],
    ]
    expect(reasons()).to.deep.equal(first)
    settle()
    await later
    await RequestContext.asSystem({ reason: 'rejected' }, async () => fail()).catch(() => {})
    await RequestContext.asSystem({ reason: 'reads' }, () => notes.list())
    expect(reasons()).to.deep.equal([
      ...first,
      ['later', '*', ''],
      ['rejected', '*', ''],
      ['reads', '*', 'note'],
    ])
  })

  it('is that of the server whose call it is, where several serve', async () => {
    const other = await startServer((builder) => builder.register(EchoService, echoService))
    try {
      await client.unary('Echo', { text: 'mine' }, ALICE)
      expect([usesIn(running.records).length, usesIn(other.records).length]).to.deep.equal([2, 0])
      await look('outside of calls')
      expect([usesIn(running.records).length, usesIn(other.records).length]).to.deep.equal([2, 2])
    } finally {
      await other.stop()
    }
    await look('outside of calls')
    expect(usesIn(running.records)).to.have.length(4)
  })

  it('is captured by a test server', async () => {
    await using server = await testServer((builder) =>
      builder.register(EchoService, { ...echoService, echo: ({ text }) => look(text) }),
    )
    await server.as({ tenant: 'acme', subject: 'alice' }).client(EchoService).echo({ text: 'tested' })
    await look('seeding')
    expect(
      server.logs.records
        .filter(({ message }) => message === 'asSystem')
        .map(({ fields }) => fields['reason']),
    ).to.deep.equal(['tested', 'tested', 'seeding', 'seeding'])
  })

  it('is no longer that of a server that refused to serve', async () => {
    const logger = recordingLogger()
    const refused = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger })
      .register(EchoService, {} as never)
      .build()
    await refused.serve(new AbortController().signal).catch(() => {})
    await look('afterwards')
    expect(usesIn(logger.records)).to.deep.equal([])
  })

  it('is a line on stderr, as the default logger writes it, where no server serves', async () => {
    const host = fork(fileURLToPath(new URL('hosts/system-log.js', import.meta.url)), { silent: true })
    let errors = ''
    host.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    await new Promise((resolve) => host.once('close', resolve))
    const lines = errors
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const written: string[] = []
    jsonLogger('info', (line) => void written.push(line)).info({}, 'asSystem')
    const { time, ...shape } = JSON.parse(written[0] ?? '{}') as Record<string, unknown>
    expect(Object.keys(lines[0] ?? {}).slice(0, 3)).to.deep.equal(['time', ...Object.keys(shape)])
    expect(new Date(String(lines[0]?.['time'])).toISOString()).to.have.length(String(time).length)
    expect(lines.map(({ time: _, ...rest }) => rest)).to.deep.equal([
      {
        ...shape,
        requestId: '',
        principal: { subject: 'cron', tenant: '' },
        reason: 'nightly',
        resource: 'note',
        tenant: '*',
      },
    ])
  })
})
