import { expect } from 'chai'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { MemoryRepository } from '../../lib/persistence/memory-repository.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { jsonLogger, type Logger } from '../../lib/server/logger.js'
import { ForeignClient } from '../support/clients.js'
import { SpecimenService } from '../support/gen/specimens_pb.js'
import { ALICE, startServer } from '../support/server.js'
import { Specimen } from '../support/specimen.js'

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
  })

describe('jsonLogger', () => {
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
