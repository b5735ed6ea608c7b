import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import type { UserInterceptor } from '../../../lib/server/chain/user-interceptor.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { CountRequestSchema, EchoRequestSchema, EchoService } from '../../support/gen/specimens_pb.js'
import { ALICE, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const ADVICE = 'call next(), or next(request) with a specimens.v1.EchoRequest'

describe('next of an interceptor', () => {
  const rows: readonly (readonly [string, UserInterceptor, string])[] = [
    ['nothing', (_call, next) => next(), 'text'],
    ['undefined', (_call, next) => next(undefined), 'text'],
    ['the request', ({ request }, next) => next(request), 'text'],
    ['another request', (_call, next) => next(create(EchoRequestSchema, { text: 'other' })), 'other'],
    ['the call', (call, next) => next(call as never), `next(call): ${ADVICE}`],
    ['a plain object', (_call, next) => next({ text: 'plain' } as never), `something else: ${ADVICE}`],
    ['null', (_call, next) => next(null as never), `something else: ${ADVICE}`],
    ['another message', (_call, next) => next(create(CountRequestSchema)), `something else: ${ADVICE}`],
  ]
  for (const [name, interceptor, expected] of rows)
    it(`${expected.includes(ADVICE) ? 'refuses' : 'takes'} ${name}`, async () => {
      const running = await startServer((builder) => builder.register(EchoService, echoService), {
        interceptors: [interceptor],
      })
      const client = new ForeignClient(EchoService, running.grpc)
      const { code, answer } = await client.unary('Echo', { text: 'text' }, ALICE)
      if (expected.includes(ADVICE)) {
        expect(code).to.equal(13)
        const { err } = running.records.find(({ message }) => message === 'call failed')?.fields as {
          err: Error
        }
        expect(err.message)
          .to.include('an interceptor of /specimens.v1.EchoService/Echo')
          .and.include(expected)
      } else expect([code, answer?.['text']]).to.deep.equal([0, expected])
      client.close()
      await running.stop()
    })
})
