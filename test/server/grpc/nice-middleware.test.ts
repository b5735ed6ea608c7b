import { expect } from 'chai'
import {
  type CallContext,
  createServer,
  Metadata as NiceMetadata,
  ServerError,
  type ServerMiddlewareCall,
  Status,
} from 'nice-grpc'
import { composeServerMiddleware } from 'nice-grpc-common'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import type { ServerCall } from '../../../lib/call.js'
import { definitionOf } from '../../../lib/server/grpc/definition.js'
import { niceGrpcMiddleware } from '../../../lib/server/grpc/nice-middleware.js'
import type { UserInterceptor } from '../../../lib/server/chain/user-interceptor.js'
import { type EchoRequest, EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

interface User {
  readonly user: { readonly name: string }
}

const BYTES = new Uint8Array([0, 255, 7])

describe('niceGrpcMiddleware', () => {
  let seen: unknown[] = []

  /** The kind that nice-grpc's own documentation shows: it logs, and lets errors through. */
  async function* logging<Request, Response>(
    call: ServerMiddlewareCall<Request, Response>,
    context: CallContext,
  ) {
    const { path, requestStream, responseStream, options } = call.method
    seen.push(['in', path, requestStream, responseStream, options, call.requestStream, call.responseStream])
    try {
      const answer = yield* call.next(call.request, context)
      seen.push(['done', (answer as { text: string }).text, context.trailer.get('by-handler')])
      return answer
    } catch (error) {
      if (error instanceof ServerError) seen.push(['failed', error.code, error.details])
      else seen.push(['broke', String(error)])
      throw error
    }
  }

  /** Reads metadata, adds to the context, and says so in headers and trailers. */
  async function* authenticating<Request, Response>(
    call: ServerMiddlewareCall<Request, Response, User>,
    context: CallContext,
  ) {
    const { metadata } = context
    if (metadata.get('token') === 'bad') throw new ServerError(Status.UNAUTHENTICATED, 'bad token')
    seen.push([metadata.get('x-text-bin'), metadata.getAll('several'), metadata.has('nothing')])
    seen.push([...metadata].filter(([name]) => ['several', 'x-text-bin'].includes(name)))
    metadata.set('added', 'by the middleware').delete('token')
    context.header.set('x-middleware', 'was here').append('x-bytes-bin', BYTES)
    const answer = yield* call.next(call.request, { ...context, user: { name: 'Alice' } })
    context.trailer.set('x-after', ['a', 'b'])
    return answer
  }

  /** Changes the request, and answers some by itself. */
  async function* changing<Request, Response>(
    call: ServerMiddlewareCall<Request, Response, User>,
    context: CallContext & User,
  ) {
    const request = call.request as EchoRequest
    seen.push(['user', context.user.name])
    if (request.text === 'mine') return { text: 'from the middleware' } as Response
    return yield* call.next({ ...request, text: request.text.toUpperCase() } as Request, context)
  }

  const handler = ({ text }: { text: string }, context: { user?: { name: string } }, more: object) => {
    seen.push(['handler', text, context.user?.name, more])
    if (text === 'TEAPOT') throw new ServerError(Status.FAILED_PRECONDITION, 'a teapot')
    if (text === 'BREAK') throw new RangeError('password=hunter2')
    return { text }
  }

  let running: RunningServer
  let client: ForeignClient
  let bare: ReturnType<typeof createServer>
  let reference: ForeignClient
  let failure: Error | undefined

  before(async () => {
    running = await startServer(
      (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo: (request, call) => {
            if (failure !== undefined) throw failure
            call.trailers.set('by-handler', 'yes')
            return handler(request, call as ServerCall & Partial<User>, {
              added: call.metadata.get('added'),
              token: call.metadata.get('token'),
            })
          },
        }),
      {
        interceptors: [
          niceGrpcMiddleware(logging),
          niceGrpcMiddleware(authenticating),
          niceGrpcMiddleware(changing),
        ],
      },
    )
    client = new ForeignClient(EchoService, running.grpc)
    bare = createServer().use(logging).use(authenticating).use(changing)
    bare.add(definitionOf(EchoService), {
      ...(echoService as never as object),
      echo: async (request: EchoRequest, context: CallContext & User) => {
        context.trailer.set('by-handler', 'yes')
        return handler(request, context, {
          added: context.metadata.get('added'),
          token: context.metadata.get('token'),
        })
      },
    } as never)
    reference = new ForeignClient(EchoService, `127.0.0.1:${await bare.listen('127.0.0.1:0')}`)
  })

  after(async () => {
    client.close()
    reference.close()
    bare.forceShutdown()
    await running.stop()
  })

  beforeEach(() => {
    seen = []
    failure = undefined
  })

  const trace = async (of: ForeignClient, text: string, headers: object) => {
    seen = []
    const outcome = await of.unary('Echo', { text }, { ...ALICE, ...headers })
    return { outcome, seen }
  }
  const readable = ({ code, details, answer, headers, trailers }: Outcome) => ({
    ...{ code, details, text: answer?.['text'] },
    middleware: headers.get('x-middleware'),
    bytes: headers.get('x-bytes-bin'),
    after: trailers.get('x-after'),
  })

  /** [what comes, the text that is sent, headers] */
  const rows: readonly (readonly [string, string, object])[] = [
    ['a call', 'hello', { several: ['a', 'b'], token: 'good' }],
    ['a response of the middleware', 'mine', {}],
    ['an error of the middleware', 'hello', { token: 'bad' }],
    ['a ServerError of the handler', 'teapot', {}],
  ]
  for (const [what, text, headers] of rows)
    it(`lets a middleware see ${what} as on nice-grpc's own server`, async () => {
      const here = await trace(client, text, headers)
      const there = await trace(reference, text, headers)
      expect(here.seen).to.deep.equal(there.seen)
      expect(here.seen.length).to.be.above(1)
      expect(readable(here.outcome)).to.deep.equal(readable(there.outcome))
    })

  it('lets a middleware see anything else the handler throws as it is, and the client nothing of it', async () => {
    const { outcome, seen: observed } = await trace(client, 'break', {})
    expect(observed.at(-1)).to.deep.equal(['broke', 'RangeError: password=hunter2'])
    expect([outcome.code, outcome.details]).to.deep.equal([13, 'internal error'])
  })

  const failures: readonly (readonly [string, () => Error, number, string, number])[] = [
    ['not found', () => new ErrNotFound(), 5, 'not found', 404],
    ['an invalid argument', () => new InvalidArgument('a', 'is odd'), 3, 'a: is odd', 400],
    ['an etag', () => ErrPreconditionFailed.etag(), 9, 'precondition failed', 412],
  ]
  for (const [what, make, code, details, status] of failures)
    it(`sees ${what} as a ServerError, whose details the client gets nevertheless`, async () => {
      failure = make()
      const outcome = await client.unary('Echo', {}, ALICE)
      expect(seen.at(-1)).to.deep.equal(['failed', code, details])
      expect([outcome.code, outcome.details]).to.deep.equal([code, details])
      expect(outcome.trailers.get('grpc-status-details-bin')).to.have.length(1)
      expect((await fetch(`${running.http}/v1/echo`, post(ALICE))).status).to.equal(status)
    })

  it('runs for calls of the gateway, and not for streams', async () => {
    const response = await fetch(`${running.http}/v1/echo`, post(ALICE, { text: 'over http' }))
    expect(((await response.json()) as { text: string }).text).to.equal('OVER HTTP')
    expect(seen[0]).to.include.members(['in', '/specimens.v1.EchoService/Echo'])
    seen = []
    expect((await client.stream('Chat', [{ text: 'a' }], ALICE)).answer).to.include({ text: 'A' })
    expect(seen).to.deep.equal([])
  })

  it('takes several in one, as nice-grpc composes them', async () => {
    const composition = composeServerMiddleware(authenticating, changing as typeof authenticating)
    const both = niceGrpcMiddleware(composition)
    const other = await startServer((builder) => builder.register(EchoService, echoService), {
      interceptors: [both],
    })
    const composed = new ForeignClient(EchoService, other.grpc)
    expect((await composed.unary('Echo', { text: 'a' }, ALICE)).answer).to.include({ text: 'A' })
    composed.close()
    await other.stop()
  })

  describe('refuses', () => {
    const broken: readonly (readonly [string, Parameters<typeof niceGrpcMiddleware>[0], RegExp])[] = [
      [
        'a context that takes the place of what a call has',
        async function* (call, context) {
          return yield* call.next(
            call.request as never,
            { ...context, principal: { subject: 'root' } } as never,
          )
        },
        /adds principal to the context/,
      ],
      [
        'a message that is yielded',
        async function* () {
          yield {} as never
        },
        /yielded a message/,
      ],
      ['no response', async function* () {}, /returned no specimens\.v1\.EchoResponse/],
      [
        'metadata that gRPC cannot carry',
        async function* (call, context) {
          context.header.set('x-a', 'ä')
          return yield* call.next(call.request as never, context)
        },
        /illegal characters/,
      ],
    ]
    for (const [what, middleware, text] of broken)
      it(what, async () => {
        const interceptors: UserInterceptor[] = [niceGrpcMiddleware(middleware)]
        const other = await startServer((builder) => builder.register(EchoService, echoService), {
          interceptors,
        })
        const one = new ForeignClient(EchoService, other.grpc)
        const { code, details } = await one.unary('Echo', { text: 'a' }, ALICE)
        expect([code, details]).to.deep.equal([13, 'internal error'])
        const failed = other.records.find(({ message }) => message === 'call failed')
        expect(JSON.stringify(failed?.fields)).to.match(text)
        one.close()
        await other.stop()
      })
  })

  it('hands on a cancelled call', async () => {
    const { createChannel, createClient } = await import('nice-grpc')
    const channel = createChannel(running.grpc)
    const nice = createClient(definitionOf(EchoService), channel)
    const caller = new AbortController()
    failure = undefined
    const call = nice.echo({ text: 'x' }, { metadata: NiceMetadata(ALICE), signal: caller.signal })
    caller.abort()
    expect(await call.catch((error: Error) => error.name)).to.equal('AbortError')
    channel.close()
  })
})
