import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'
import { ruledService } from '../../support/servers/ruled-service.js'
import { until } from '../../support/until.js'
import { echoService } from '../../support/grpc/echo.js'

const ASKED = 'HTTP/1.1 100 Continue\r\n\r\n'

/** Sends the head, the body only when it is asked for, and all that came back until the server closed. */
const askOf = (
  running: RunningServer,
  path: string,
  headers: object,
  body: string,
  length = body.length,
): Promise<string> =>
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

  const ask = (path: string, headers: object, body: string, length?: number) =>
    askOf(running, path, headers, body, length)

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

describe('Expect: 100-continue, where a field of the body decides', () => {
  let running: RunningServer
  const ruleOf = (method: string) =>
    method === 'Echo' ? { verb: 'echo', resource: 'echo:{text}' } : undefined
  before(async () => {
    running = await startServer(
      (builder) => builder.register(ruledService(EchoService, ruleOf), echoService as never),
      {
        authorizer: devAuthorizer([{ tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'echo:a' }]),
      },
    )
  })
  after(() => running.stop())

  for (const [text, status] of [
    ['a', 200],
    ['b', 403],
  ] as const)
    it(`waits for the body, and answers ${status} about "${text}"`, async () => {
      const told = await askOf(running, '/v1/echo', ALICE, `{"text":"${text}"}`)
      expect(told.startsWith(ASKED)).to.equal(true)
      expect(told.slice(ASKED.length)).to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
    })

  it('does not ask for the body of nobody', async () => {
    expect(await askOf(running, '/v1/echo', {}, '{"text":"a"}')).to.match(/^HTTP\/1\.1 403 /)
  })
})

describe('Expect: 100-continue, of callers who are not let in', () => {
  it('count with the bytes that came, and a head without a body does not wait for one', async () => {
    const decide: (() => void)[] = []
    const running = await startServer((builder) => builder.register(EchoService, echoService), {
      limits: { unauthenticatedBytes: 256 * 1024 },
      authorizer: { authorize: () => new Promise((resolve) => decide.push(() => resolve(true))) },
    })
    const { hostname, port, host } = new URL(running.http)
    const head = (more: string) =>
      `POST /v1/echo HTTP/1.1\r\nHost: ${host}\r\naccount-id: acme\r\nsubject: alice\r\nExpect: 100-continue\r\n${more}\r\n`
    const send = (bytes: string | Buffer, text: { all: string }): Socket =>
      connect(Number(port), hostname)
        .on('error', () => {})
        .on('data', (chunk) => (text.all += chunk.toString()))
        .on('connect', function (this: Socket) {
          this.write(bytes)
        })
    const [friend, strangers] = [{ all: '' }, { all: '' }]
    const body = JSON.stringify({ text: 'x'.repeat(200 * 1024) })
    const sockets = [send(`${head(`Content-Length: ${body.length}\r\n`)}${body}`, friend)]
    await until(() => decide.length === 1)
    sockets.push(send(head('').repeat(50), strangers))
    for (let n = 0; n < 20; n++) sockets.push(send(head('Content-Length: 900000\r\n'), strangers))
    await until(() => decide.length === 71)
    for (const each of decide.splice(0)) each()
    const isAsked = () => strangers.all.split('HTTP/1.1 100').length === 21
    // Node closes a connection whose client did not have to wait.
    await until(() => [friend, strangers].every(({ all }) => all.includes('HTTP/1.1 200')) && isAsked())
    expect(friend.all + strangers.all).not.to.include('HTTP/1.1 429')
    for (const socket of sockets) socket.destroy()
    await running.stop()
  })
})
