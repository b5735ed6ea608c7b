import { connect } from 'node:net'
import { expect } from 'chai'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const ASKED = 'HTTP/1.1 100 Continue\r\n\r\n'

describe('Expect: 100-continue', () => {
  let running: RunningServer
  before(async () => {
    running = await startServer(
      (builder) =>
        builder
          .register(EchoService, echoService)
          .register(
            SpecimenService,
            partly(SpecimenService, { weighSpecimen: ({ id }: { id: string }) => ({ id }) }),
          )
          .httpHandler('/own', async (request: Request) => new Response(await request.text())),
      {
        authorizer: devAuthorizer([
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'echo' },
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'specimen:a' },
        ]),
      },
    )
  })
  after(() => running.stop())

  /** Sends the head, the body only when it is asked for, and all that came back until the server closed. */
  const ask = (path: string, headers: object, body: string, length = body.length): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port, host } = new URL(running.http)
      const all = {
        Host: host,
        'Content-Type': 'application/json',
        'Content-Length': length,
        Expect: '100-continue',
        ...headers,
      }
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}\r\n`)
      let text = ''
      let isSent = false
      const socket = connect(Number(port), hostname, () =>
        socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
      )
      socket.on('data', (chunk) => {
        text += chunk.toString()
        if (text.startsWith(ASKED) && !isSent) {
          isSent = true
          socket.write(body)
        }
        if (isSent && /\r\n\r\n[^]*\r\n\r\n[^]+/.test(text)) socket.end()
      })
      socket.once('close', () => resolve(text))
      socket.once('error', reject)
    })

  it('asks for the body of a call that is let in, and reads it', async () => {
    const text = await ask('/v1/echo', ALICE, '{"text":"hi"}')
    expect(text.startsWith(ASKED)).to.equal(true)
    expect(text)
      .to.match(/HTTP\/1\.1 200 OK/)
      .and.to.include('"text":"hi"')
  })

  for (const [what, path, headers, status] of [
    ['of nobody', '/v1/echo', {}, 403],
    ['of somebody who may not', '/v1/echo', { ...ALICE, subject: 'bob' }, 403],
    ['that its path forbids', '/v1/specimens/b:weigh', ALICE, 403],
    ['whose headers say two tenants', '/v1/echo', { 'account-id': 'a', 'Account-Id': 'b' }, 400],
    ['of no path', '/nope', ALICE, 404],
  ] as const)
    it(`does not ask for the megabyte ${what}, and closes the connection`, async () => {
      const text = await ask(path, headers, 'never sent', 1_000_000)
      expect(text)
        .to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
        .and.to.match(/^connection: close\r$/im)
      expect(text).not.to.include('100 Continue')
    })

  it('does not ask for a body that is too large', async () => {
    expect(await ask('/v1/echo', ALICE, '', 5_000_000)).to.match(/^HTTP\/1\.1 413 /)
  })

  it('asks where the path allows, and says then what is wrong with the body', async () => {
    const text = await ask('/v1/specimens/a:weigh', ALICE, '{"nope":1}')
    expect(text.startsWith(ASKED)).to.equal(true)
    expect(text).to.match(/HTTP\/1\.1 400 /)
  })

  it('asks for the body of a mounted handler', async () => {
    expect(await ask('/own', {}, 'hello')).to.match(/^HTTP\/1\.1 100 [^]*HTTP\/1\.1 200 OK[^]*hello/)
  })
})
