import 'reflect-metadata'
import { Controller, Get, type INestApplication, Module, Param, Res } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { expect } from 'chai'
import type { ServerResponse } from 'node:http'
import {
  type AshlarError,
  ErrNotFound,
  ErrPreconditionFailed,
  Internal,
  InvalidArgument,
  ResourceExhausted,
  Unauthenticated,
} from '../../lib/errors.js'
import { AshlarExceptionFilter } from '../../lib/nest/index.js'

const ERRORS: Readonly<Record<string, () => AshlarError>> = {
  missing: () => new ErrNotFound(),
  etag: () => ErrPreconditionFailed.etag(),
  reference: () => new ErrPreconditionFailed(),
  argument: () => new InvalidArgument('size', 'must be positive'),
  many: () => new ResourceExhausted('slow down', 1500),
  bearer: () => new Unauthenticated(),
  internal: () => new Internal(new RangeError('password=hunter2')),
}

@Controller()
class Failing {
  @Get('fail/:what')
  fail(@Param('what') what: string): never {
    throw ERRORS[what]?.() ?? new TypeError(what)
  }

  @Get('halfway')
  halfway(@Res() response: ServerResponse): never {
    response.writeHead(200, { 'content-length': 100 }).write('half')
    throw new ErrNotFound()
  }
}

@Module({ controllers: [Failing] })
class FailingModule {}

describe('AshlarExceptionFilter', () => {
  let app: INestApplication
  let url: string

  before(async () => {
    app = await NestFactory.create(FailingModule, { logger: false })
    app.useGlobalFilters(new AshlarExceptionFilter())
    await app.listen(0, '127.0.0.1')
    url = await app.getUrl()
  })
  after(() => app.close())

  const rows: readonly (readonly [string, number, number, string, Readonly<Record<string, string>>])[] = [
    ['missing', 404, 5, 'not found', {}],
    ['etag', 412, 9, 'precondition failed', {}],
    ['reference', 400, 9, 'precondition failed', {}],
    ['argument', 400, 3, 'size: must be positive', {}],
    ['many', 429, 8, 'slow down', { 'retry-after': '2' }],
    ['bearer', 401, 16, 'invalid bearer token', { 'www-authenticate': 'Bearer error="invalid_token"' }],
    ['internal', 500, 13, 'internal error', {}],
  ]
  for (const [what, status, code, message, headers] of rows)
    it(`returns ${status} for ${what}, as the gateway does`, async () => {
      const response = await fetch(`${url}/fail/${what}`)
      expect([response.status, await response.json()]).to.deep.equal([status, { code, message }])
      for (const [name, value] of Object.entries({ 'cache-control': 'no-store', ...headers }))
        expect([name, response.headers.get(name)]).to.deep.equal([name, value])
    })

  it('cuts off a response that has begun, and goes on serving', async () => {
    const outcome = await fetch(`${url}/halfway`)
      .then(
        (response) => response.text(),
        (error: Error) => error,
      )
      .catch((error: Error) => error)
    expect(outcome).to.be.instanceOf(TypeError)
    expect((await fetch(`${url}/fail/missing`)).status).to.equal(404)
  })
})
