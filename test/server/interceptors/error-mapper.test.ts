import { expect } from 'chai'
import { ServerError, Status } from 'nice-grpc'
import {
  Aborted,
  AshlarError,
  type Code,
  CODES,
  Cancelled,
  DeadlineExceeded,
  ErrConflict,
  ErrNoEncryptor,
  ErrNoMinter,
  ErrNotFound,
  ErrPreconditionFailed,
  Internal,
  InvalidArgument,
  PermissionDenied,
  ResourceExhausted,
  Unauthenticated,
  Unavailable,
  Unimplemented,
  UnknownOutcome,
} from '../../../lib/errors.js'
import { DriverFault } from '../../../lib/faults/driver-fault.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { textOf } from '../../support/sources/documents.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const driverError = (
  fields: object,
  message = 'duplicate key value violates unique constraint "widgets_pkey"',
) => Object.assign(new Error(message), fields)

const rows: readonly (readonly [string, unknown, number, number, string])[] = [
  ['ErrNotFound', new ErrNotFound(), 5, 404, 'not found'],
  ['ErrConflict', new ErrConflict(), 6, 409, 'already exists'],
  ['ErrPreconditionFailed', new ErrPreconditionFailed(), 9, 400, 'precondition failed'],
  ['an etag that does not match', ErrPreconditionFailed.etag(), 9, 412, 'precondition failed'],
  [
    'InvalidArgument',
    new InvalidArgument('widget.size', 'must be positive'),
    3,
    400,
    'widget.size: must be positive',
  ],
  ['PermissionDenied', new PermissionDenied(), 7, 403, 'permission denied'],
  ['Unauthenticated', new Unauthenticated(), 16, 401, 'invalid bearer token'],
  [
    'Unimplemented',
    new Unimplemented('full-text search requires PostgreSQL'),
    12,
    501,
    'full-text search requires PostgreSQL',
  ],
  ['Aborted', new Aborted(), 10, 409, 'aborted by a concurrent change: retry'],
  ['ResourceExhausted', new ResourceExhausted('slow down', 1500), 8, 429, 'slow down'],
  ['DeadlineExceeded', new DeadlineExceeded(), 4, 504, 'deadline exceeded'],
  ['Cancelled', new Cancelled(), 1, 499, 'the call was cancelled'],
  ['Unavailable', new Unavailable('resting'), 14, 503, 'resting'],
  ['Internal', new Internal(new Error('secret')), 13, 500, 'internal error'],
  ['ErrNoMinter', new ErrNoMinter(), 13, 500, 'internal error'],
  ['ErrNoEncryptor', new ErrNoEncryptor(), 13, 500, 'internal error'],
  ['an unknown error', new Error('at /srv/app.js: password=hunter2'), 13, 500, 'internal error'],
  ['what is not an error', 'SQLSTATE 23505', 13, 500, 'internal error'],
  ['nothing', undefined, 13, 500, 'internal error'],
  ['a nice-grpc error', new ServerError(Status.NOT_FOUND, 'no such page'), 5, 404, 'no such page'],
  ['a nice-grpc internal error', new ServerError(Status.INTERNAL, 'stack'), 13, 500, 'internal error'],
  [
    'a unique violation of PostgreSQL',
    driverError({ code: '23505', severity: 'ERROR' }),
    6,
    409,
    'already exists',
  ],
  [
    'a foreign key of PostgreSQL',
    driverError({ code: '23503', severity: 'ERROR' }),
    9,
    400,
    'precondition failed',
  ],
  [
    'a unique violation of MySQL',
    driverError({ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' }),
    6,
    409,
    'already exists',
  ],
  [
    'a unique violation of SQLite',
    driverError(
      { code: 'SQLITE_CONSTRAINT', errno: 19 },
      'SQLITE_CONSTRAINT: UNIQUE constraint failed: widgets.id',
    ),
    6,
    409,
    'already exists',
  ],
]

const RAW = /constraint|duplicate key|SQLSTATE|widgets_pkey|hunter2|app\.js|secret|persistence:|\bat \//i

describe('errors on their way out', () => {
  let running: RunningServer
  let client: ForeignClient
  let thrown: unknown

  before(async () => {
    const fail = () => {
      throw thrown
    }
    running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: fail,
        count: fail as never,
        collect: fail as never,
      }),
    )
    client = new ForeignClient(EchoService, running.grpc)
  })

  after(async () => {
    client.close()
    await running.stop()
  })

  for (const [name, error, code, http, text] of rows) {
    it(`sends ${name} as ${code} over gRPC`, async () => {
      thrown = error
      const outcome = await client.unary('Echo', {}, ALICE)
      expect([outcome.code, outcome.details]).to.deep.equal([code, text])
      expect(outcome.details).not.to.match(RAW)
      expect(outcome.headers.get('x-request-id')).to.have.length(1)
    })

    it(`sends ${name} as ${code} from a stream`, async () => {
      thrown = error
      for (const method of ['Count', 'Collect']) {
        const outcome = await client.stream(method, [{}], ALICE)
        expect([method, outcome.code, outcome.details]).to.deep.equal([method, code, text])
      }
    })

    it(`sends ${name} as ${http} over HTTP`, async () => {
      thrown = error
      const response = await fetch(`${running.http}/v1/echo`, post(ALICE))
      const body = (await response.json()) as { code: number; message: string }
      expect([response.status, body.code, body.message]).to.deep.equal([http, code, text])
    })
  }

  describe('in the table of docs/reference/errors.md', () => {
    const table = textOf('docs/reference/errors.md').split('\n## Codes\n')[1]?.split('\n## ')[0] ?? ''
    const cells = table
      .split('\n')
      .filter((line) => line.startsWith('| ') && !/^\| (thrown|-)/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()))
    const documented = cells.map(([, said = '', code = '', status = '']) => ({
      name: /^`([^`]+)`: /.exec(said)?.[1] ?? said,
      code: CODES[code as Code],
      status: Number(status),
    }))
    const known = new Map<string, unknown>(rows.map(([name, error]) => [name, error]))
    known.set('ErrPreconditionFailed.etag()', ErrPreconditionFailed.etag())
    known.set('UnknownOutcome', new UnknownOutcome('the connection was lost'))
    known.set('anything else', new Error('at /srv/app.js: password=hunter2'))

    for (const { name, code, status } of documented)
      it(`says what comes of ${name}`, async () => {
        expect([...known.keys()]).to.include(name)
        thrown = known.get(name)
        expect((await client.unary('Echo', {}, ALICE)).code).to.equal(code)
        expect((await fetch(`${running.http}/v1/echo`, post(ALICE))).status).to.equal(status)
      })

    it('has every class that is not an internal error', () => {
      const classes = rows.flatMap(([, error]) =>
        error instanceof AshlarError && error.code !== 'INTERNAL' ? [error.constructor.name] : [],
      )
      expect(classes).to.include.members(['ErrNotFound', 'Aborted', 'Cancelled'])
      expect(documented.map(({ name }) => name)).to.include.members(classes)
    })
  })

  it('packs what a machine can read into grpc-status-details-bin', async () => {
    thrown = new InvalidArgument('widget.size', 'must be positive')
    const { trailers } = await client.unary('Echo', {}, ALICE)
    const [bytes] = trailers.get('grpc-status-details-bin')
    expect(Buffer.from(bytes as Buffer).toString('latin1'))
      .to.contain('widget.size')
      .and.to.contain('BadRequest')
  })

  it('logs the cause of what is unavailable, one record for each cause', async () => {
    running.records.length = 0
    for (const method of ['Echo', 'Echo', 'Count'])
      for (const refused of ['ECONNREFUSED', 'ENOTFOUND']) {
        thrown = new Unavailable(
          'the store cannot be reached',
          new DriverFault(driverError({ code: refused, syscall: 'connect' }, refused)),
        )
        if (method === 'Echo') await client.unary(method, {}, ALICE)
        else await client.stream(method, [{}], ALICE)
      }
    thrown = new Unavailable('closed for today')
    await client.unary('Echo', {}, ALICE)
    const records = running.records.filter(({ message }) => message !== 'rpc')
    expect(records.map(({ level, message, fields }) => [level, message, fields['method']])).to.deep.equal(
      Array(2).fill(['error', 'unavailable: the store cannot be reached', '/specimens.v1.EchoService/Echo']),
    )
    expect(records.map(({ fields }) => (fields['err'] as Error).message)).to.deep.equal([
      'ECONNREFUSED',
      'ENOTFOUND',
    ])
    expect(records[0]?.fields['requestId']).to.be.a('string')
  })

  it('logs the cause of an internal error beside the request id, and the code the caller got', async () => {
    thrown = new Error('the disk is full')
    running.records.length = 0
    const { headers } = await client.unary('Echo', {}, ALICE)
    const [id] = headers.get('x-request-id')
    const [failure, rpc] = running.records
    expect(failure).to.deep.include({ level: 'error', message: 'call failed' })
    expect(failure?.fields).to.have.nested.property('err.message', 'the disk is full')
    expect(failure?.fields['requestId']).to.equal(id)
    expect(rpc?.level).to.equal('error')
    expect(rpc?.fields).to.include({ requestId: id, code: 'INTERNAL', subject: 'alice', tenant: 'acme' })
  })

  it('says nothing of a statement or a row to the log', async () => {
    const query = {
      query: "INSERT INTO users VALUES ('hunter2')",
      parameters: ['hunter2'],
      detail: 'Key (x)=(hunter2)',
    }
    thrown = Object.assign(new Error('query failed'), query)
    running.records.length = 0
    await client.unary('Echo', {}, ALICE)
    expect(JSON.stringify(running.records)).not.to.contain('hunter2')
  })

  it('keeps an error that user code derived from AshlarError', async () => {
    thrown = new AshlarError('OUT_OF_RANGE', 'the shelf ends at 9')
    expect(await client.unary('Echo', {}, ALICE)).to.include({ code: 11, details: 'the shelf ends at 9' })
  })
})
