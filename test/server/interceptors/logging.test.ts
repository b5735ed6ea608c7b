import { create } from '@bufbuild/protobuf'
import { anyPack, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { PermissionDenied } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { jsonLogger, type Logger } from '../../../lib/server/observability/logger.js'
import { captureLogs } from '../../../lib/testing/harness/captured-logs.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { TypesService } from '../../support/gen/jsontypes_pb.js'
import {
  EchoResponseSchema,
  EchoService,
  SpecimenSchema,
  SpecimenService,
} from '../../support/gen/specimens_pb.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

type Line = Readonly<Record<string, unknown>>

const loggers: readonly (readonly [string, (level: 'debug' | 'info', lines: Line[]) => Logger])[] = [
  ['jsonLogger', (level, lines) => jsonLogger(level, (text) => void lines.push(JSON.parse(text) as Line))],
  [
    'pino',
    (level, lines) =>
      pino(
        { level },
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            lines.push(JSON.parse(chunk.toString()) as Line)
            done()
          },
        }),
      ),
  ],
]

for (const [name, open] of loggers)
  describe(`logging with ${name}`, () => {
    const lines: Line[] = []

    const call = async (level: 'debug' | 'info') => {
      lines.length = 0
      const sealing = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
      const specimens = new MemoryRepository(Specimen, sealing)
      const weighSpecimen = () => ({})
      const running = await startServer(
        (builder) => builder.register(SpecimenService, specimens, { weighSpecimen }),
        {
          logger: open(level, lines),
          httpAddr: '',
        },
      )
      const client = new ForeignClient(SpecimenService, running.grpc)
      const specimen = { title: 'Marble', webhook_secret: 'hunter2' }
      const { answer } = await client.unary('CreateSpecimen', { specimen, request_id: 'r' }, ALICE)
      client.close()
      await running.stop()
      return answer?.['api_key'] as string
    }

    it('writes one line per call at info', async () => {
      await call('info')
      expect(lines).to.have.length(1)
      expect(lines[0]).to.include({
        msg: 'rpc',
        method: '/specimens.v1.SpecimenService/CreateSpecimen',
        code: 'OK',
      })
    })

    it('writes what goes in and out at debug, without secrets and credentials', async () => {
      const token = await call('debug')
      expect(token).to.match(/^ib_/)
      expect(lines.map(({ msg }) => msg)).to.deep.equal(['request', 'response', 'rpc'])
      const [request, response] = lines
      expect(request).to.have.nested.property('request.specimen.title', 'Marble')
      expect(response).to.have.nested.property('response.title', 'Marble')
      expect(JSON.stringify(lines)).not.to.contain('hunter2').and.not.to.contain(token)
    })

    it('writes each of them under the id of the call', async () => {
      await call('debug')
      const ids = lines.map(({ requestId }) => requestId)
      expect(ids[0])
        .to.be.a('string')
        .and.match(/^[\da-f-]{36}$/)
      expect(new Set(ids).size).to.equal(1)
    })
  })

describe('a payload in the log', () => {
  let running: RunningServer
  let client: ForeignClient
  const logs = captureLogs('debug')
  let answered: unknown
  before(async () => {
    running = await startServer(
      (builder) =>
        builder
          .register(EchoService, {
            ...echoService,
            echo: () => {
              if (answered === undefined) throw new PermissionDenied()
              return answered as never
            },
          })
          .register(
            TypesService,
            partly(TypesService, { send: () => ({ optionalAny: anyPack(SpecimenSchema, specimen()) }) }),
          )
          .register(SpecimenService, new MemoryRepository(Specimen, { minter: new CredentialMinter() }), {
            weighSpecimen: () => ({}),
          }),
      { logger: logs.logger },
    )
    client = new ForeignClient(EchoService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })
  beforeEach(() => logs.clear())

  const specimen = () => create(SpecimenSchema, { id: 'seen', webhookSecret: 'hunter2' })
  const of = (side: string) => logs.records.find(({ message }) => message === side)?.fields

  it('is under proto names, and under the id that the caller gave, by both listeners', async () => {
    answered = { text: 'out' }
    const headers = { ...ALICE, 'x-request-id': 'mine' }
    await client.unary('Echo', { text: 'in' }, headers)
    expect([of('request'), of('response')]).to.deep.equal([
      { method: '/specimens.v1.EchoService/Echo', requestId: 'mine', request: { text: 'in' } },
      { method: '/specimens.v1.EchoService/Echo', requestId: 'mine', response: { text: 'out' } },
    ])
    logs.clear()
    await fetch(`${running.http}/v1/echo?text=in`, { headers })
    expect([of('request')?.['requestId'], of('request')?.['request']]).to.deep.equal(['mine', { text: 'in' }])
  })

  it('shows long values and bytes by their length', async () => {
    answered = { text: 'x'.repeat(5000), request: { data: new Uint8Array(3000), words: Array(50).fill('w') } }
    await client.unary('Echo', { text: 'y'.repeat(5000), data: Buffer.alloc(7) }, ALICE)
    expect(of('request')?.['request']).to.deep.equal({
      text: `${'y'.repeat(256)}… (5000 characters)`,
      data: '(7 bytes)',
    })
    expect(of('response')).to.have.nested.property('response.request.data', '(3000 bytes)')
    expect(JSON.stringify(logs.records)).to.have.length.lessThan(4000)
  })

  it('has no secret inside of a google.protobuf.Any', async () => {
    await fetch(`${running.http}/v1/types`, post(ALICE))
    expect(of('response')).to.have.nested.property('response.optional_any.id', 'seen')
    expect(of('response')).to.have.nested.property('response.optional_any.webhook_secret', '[redacted]')
    expect(logs.text()).not.to.include('hunter2')
  })

  it('is there for a call that fails, too', async () => {
    answered = undefined
    await client.unary('Echo', { text: 'in' }, { ...ALICE, 'x-request-id': 'failed' })
    expect(logs.records.map(({ message, fields }) => [message, fields['requestId']])).to.deep.equal([
      ['request', 'failed'],
      ['rpc', 'failed'],
    ])
  })

  it('is not needed to know why a call was refused: the record of the call has the reason and the field', async () => {
    const body = { method: 'POST', headers: { ...ALICE, 'content-type': 'application/json' } }
    const { status } = await fetch(`${running.http}/v1/specimens`, {
      ...body,
      body: JSON.stringify({ count: 'hunter2' }),
    })
    expect(status).to.equal(400)
    const { violations } = of('rpc') as { violations: readonly { field?: string }[] }
    expect(violations.map(({ field }) => field)).to.include('specimen.count')
    expect(logs.text()).not.to.include('hunter2')
  })

  it('fails no call, whatever a handler returns', async () => {
    const at = create(TimestampSchema)
    answered = create(EchoResponseSchema, { text: 'out', request: { at } })
    Object.defineProperty(at, 'seconds', {
      get: () => {
        if (new Error().stack?.includes('redaction') === true) throw new TypeError('not for logs')
        return 1n
      },
    })
    expect((await client.unary('Echo', { text: 'in' }, ALICE)).code).to.equal(0)
    expect(of('response')?.['response']).to.equal('[no specimens.v1.EchoResponse]')
  })
})

describe('jsonLogger', () => {
  it('shares one exit listener of the process with all other loggers', () => {
    const before = process.listenerCount('exit')
    for (let loggers = 0; loggers < 20; loggers++) jsonLogger('info').debug({}, 'not written')
    expect(process.listenerCount('exit') - before).to.be.at.most(1)
  })

  it('writes what the level lets through, one object per line, errors without what drivers hang on them', () => {
    const lines: string[] = []
    const logger = jsonLogger('warn', (text) => void lines.push(text))
    const err = Object.assign(new Error('query failed'), { query: 'SELECT', parameters: ['hunter2'] })
    logger.debug({}, 'no')
    logger.info({}, 'no')
    logger.warn({ n: 1n }, 'yes')
    logger.error({ err }, 'yes')
    expect(lines.map((line) => (JSON.parse(line) as Line)['level'])).to.deep.equal(['warn', 'error'])
    expect(lines.join('')).not.to.contain('hunter2')
    expect(['debug', 'warn', 'silent'].map((level) => logger.isLevelEnabled?.(level))).to.deep.equal([
      false,
      true,
      true,
    ])
  })
})
