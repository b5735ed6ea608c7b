import { create, type DescMethod, type JsonValue, type Message } from '@bufbuild/protobuf'
import { expect } from 'chai'
import fc from 'fast-check'
import { inspect, isDeepStrictEqual } from 'node:util'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { RequestContext } from '../../lib/context.js'
import { AshlarError, type Code, Unauthenticated } from '../../lib/errors.js'
import { MemoryRepository } from '../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import type { Config } from '../../lib/server/config/config.js'
import { verifiedPrincipal } from '../../lib/server/config/verified-principal.js'
import { MemoryIdempotencyStore } from '../../lib/server/idempotency/memory-idempotency-store.js'
import { fixedClock } from '../../lib/testing/harness/fixed-clock.js'
import { fixedIds } from '../../lib/testing/harness/fixed-ids.js'
import { echoService } from '../support/grpc/echo.js'
import { drill } from '../support/drill.js'
import { type EchoRequest, EchoService, NoteService, SpecimenService } from '../support/gen/specimens_pb.js'
import { type RunningServer, startServer } from '../support/servers/server.js'
import { Note, Specimen } from '../support/entities/specimen.js'
import { type ListenerOutcome, GrpcCaller, HttpCaller } from './listener-outcome.js'
import { randomCall, type RandomCall } from './random-calls.js'
import { spellHttp, type SpelledCall } from './spell-http.js'

const LENGTH = 25
const RUNS = drill(4, 200)

/** A failure prints these two; setting them plays its calls again. */
const { ASHLAR_SEED, ASHLAR_PATH } = process.env
const replay = {
  ...(ASHLAR_SEED === undefined ? {} : { seed: Number(ASHLAR_SEED) }),
  ...(ASHLAR_PATH === undefined ? {} : { path: ASHLAR_PATH }),
}

const GRANTS = [
  { tenant: '*', subjects: ['group:makers'], verbs: ['*'], resource: '*' },
  { tenant: '*', subjects: ['group:readers'], verbs: ['get', 'list', 'watch'], resource: '*' },
  { tenant: '*', subjects: ['group:weighers'], verbs: ['weigh'], resource: 'specimen:a' },
]

/** Who a call is from: believed from its headers, or verified from its bearer. */
const IDENTITIES: Readonly<Record<string, Config>> = {
  'headers that are believed': { principalFunc: devPrincipal },
  'bearers that are verified': {
    principalFunc: verifiedPrincipal,
    authenticator: {
      authenticate: async (token) => {
        if (token !== 'alice') throw new Unauthenticated()
        return Promise.resolve({ subject: 'alice', tenant: 'acme', groups: ['makers'], scopes: [] })
      },
    },
  },
}

/** What a handler of a user may throw. */
function failAsAsked(text: string): void {
  if (text === 'boom') throw new TypeError('password=hunter2')
  const [, code] = /^fail (\w+)$/.exec(text) ?? []
  if (code === undefined) return
  throw new AshlarError(code as Code, `größer als „nötig“: 100%25 of ${code}`, {
    details: [
      { kind: 'errorInfo', reason: 'ASKED_FOR', metadata: { text } },
      { kind: 'retryInfo', delayMs: 1500 },
      { kind: 'preconditionFailure', type: 'MOOD', subject: 'echo', description: 'not today' },
    ],
  })
}

const echo = {
  ...echoService,
  echo: (request: EchoRequest) => {
    failAsAsked(request.text)
    return echoService.echo(request)
  },
  count: async function* ({ upto }: { upto: number }) {
    for (let n = 1; n <= upto; n++) {
      if (n === 4) failAsAsked('fail DATA_LOSS')
      yield await Promise.resolve({ text: String(n) })
    }
  },
}

/** A server with a store of its own, in which everything but etags and tokens is decided beforehand. */
async function startListener(config: Config): Promise<RunningServer> {
  const clock = fixedClock('2030-01-01T00:00:00.123Z')
  const sources = { now: clock, newKey: fixedIds() }
  const sealing = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
  const specimens = new MemoryRepository(Specimen, { ...sources, ...sealing })
  await RequestContext.as({ tenant: 'globex' }, () => specimens.create({ id: 'theirs', code: 'theirs' }))
  for (const key of ['a', 'b'])
    await RequestContext.as({ tenant: 'acme' }, () => specimens.create({ id: key, code: key, title: key }))
  return startServer(
    (builder) =>
      builder
        .register(SpecimenService, specimens, {
          weighSpecimen: async ({ id }) => specimens.model.toMessage(await specimens.get(id)),
        })
        .register(WidgetService, new MemoryRepository(Widget, sources), {
          retireWidget: ({ id }) => {
            failAsAsked(id === 'a' ? 'fail ABORTED' : 'boom')
            return {}
          },
        })
        .register(NoteService, new MemoryRepository(Note, sources))
        .register(EchoService, echo),
    {
      authorizer: devAuthorizer(GRANTS),
      idempotencyStore: new MemoryIdempotencyStore({ now: clock }),
      ...config,
    },
  )
}

/** What one listener has answered so far: etags are told apart by when they came, since they are random. */
class Memory {
  readonly #etags: string[] = []
  #page = ''

  /** The request as it is sent, its `$` texts filled in. */
  fill<T>(value: T): T {
    if (typeof value === 'string') {
      const [last = 'none', older = 'none'] = [this.#etags.at(-1), this.#etags.at(-2)]
      return value.replace('$etag', last).replace('$older', older).replace('$page', this.#page) as T
    }
    if (Array.isArray(value)) return value.map((each: unknown) => this.fill(each)) as T
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.fill(each as unknown)]),
    ) as T
  }

  /** The outcome with what is random replaced by what it stands for. */
  read({ etag, answers, requestId, ...rest }: ListenerOutcome, sentId: unknown): unknown {
    return {
      ...rest,
      etag: etag === '' ? '' : this.#nameOf(etag),
      requestId: requestId === sentId ? requestId : /^[0-9a-f-]{36}$/.test(requestId) ? 'minted' : requestId,
      answers: answers.map((answer) => this.#plain(answer)),
    }
  }

  #plain(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.map((each) => this.#plain(each))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, each]): [string, JsonValue] => {
      if (name === 'nextPageToken') this.#page = String(each)
      if (name === 'etag' && typeof each === 'string') return [name, this.#nameOf(each)]
      if (name === 'apiKey') return [name, String(each).replace(/^ib_\w{22}_\w{43}$/, 'a token')]
      return [name, this.#plain(each)]
    })
    return Object.fromEntries(entries)
  }

  #nameOf(etag: string): string {
    if (!this.#etags.includes(etag)) this.#etags.push(etag)
    return `etag ${this.#etags.indexOf(etag)}`
  }
}

/** Two servers that are alike, one behind each listener. */
class BothListeners {
  #made = 0
  #left = 0

  private constructor(
    readonly servers: readonly RunningServer[],
    readonly grpc: GrpcCaller,
    readonly http: HttpCaller,
    readonly memories = { grpc: new Memory(), http: new Memory() },
  ) {}

  static async open(config: Config): Promise<BothListeners> {
    const [one, other] = [await startListener(config), await startListener(config)]
    return new BothListeners([one, other], new GrpcCaller(one.grpc), new HttpCaller(other.http))
  }

  /** Calls that were made, and that were left out because HTTP cannot say them. */
  get counts(): { readonly made: number; readonly left: number } {
    return { made: this.#made, left: this.#left }
  }

  /** Makes the call through both listeners; undefined when HTTP cannot say it. */
  async ask(call: RandomCall): Promise<readonly [unknown, unknown] | undefined> {
    const spelled = this.#spelled(call, this.memories.http)
    if (spelled === undefined) {
      this.#left++
      return undefined
    }
    this.#made++
    const { method, headers } = call
    const [overGrpc, overHttp] = await Promise.all([
      this.grpc.call(method, this.#message(call, this.memories.grpc), this.memories.grpc.fill(headers)),
      this.http.call(method, spelled, this.memories.http.fill(headers)),
    ])
    const sent = headers['x-request-id']
    const { responseBody } = spelled
    return [
      this.memories.grpc.read(responseBody === '' ? overGrpc : only(overGrpc, responseBody), sent),
      this.memories.http.read(overHttp, sent),
    ]
  }

  async close(): Promise<void> {
    this.grpc.close()
    this.http.close()
    await Promise.all(this.servers.map(({ stop }) => stop()))
  }

  #message({ method, request }: RandomCall, memory: Memory): Message {
    return create(method.input, memory.fill(request))
  }

  #spelled(call: RandomCall, memory: Memory): SpelledCall | undefined {
    return spellHttp(call.method, call.binding, this.#message(call, memory), call.protoNames)
  }
}

/** What an answer is when only one field of it is sent. */
const only = (outcome: ListenerOutcome, field: string): ListenerOutcome => ({
  ...outcome,
  answers: outcome.answers.map((answer) =>
    Object.fromEntries(Object.entries(answer as object).filter(([name]) => name === field)),
  ),
})

const difference = (call: RandomCall, overGrpc: unknown, overHttp: unknown): string =>
  inspect(
    { call: { ...call, method: call.method.toString() }, overGrpc, overHttp },
    { depth: 12, breakLength: 110 },
  )

for (const [identities, config] of Object.entries(IDENTITIES))
  describe(`gRPC and HTTP/JSON, with ${identities}`, () => {
    it(`agree on ${RUNS} times ${LENGTH} random calls: response, error, details, etag and headers`, async () => {
      const total = { made: 0, left: 0 }
      const codes = new Map<string, number>()
      await fc.assert(
        fc.asyncProperty(fc.array(randomCall, { minLength: LENGTH, maxLength: LENGTH }), async (calls) => {
          const listeners = await BothListeners.open(config)
          try {
            for (const call of calls) {
              const outcomes = await listeners.ask(call)
              if (outcomes === undefined) continue
              const [overGrpc, overHttp] = outcomes
              if (!isDeepStrictEqual(overHttp, overGrpc)) expect.fail(difference(call, overGrpc, overHttp))
              const code = String((overGrpc as ListenerOutcome).code)
              codes.set(code, (codes.get(code) ?? 0) + 1)
            }
          } finally {
            await listeners.close()
            total.made += listeners.counts.made
            total.left += listeners.counts.left
          }
        }),
        // Each try starts two servers, and the failing call is named: nothing is shrunk.
        { numRuns: RUNS, endOnFailure: true, ...replay },
      )
      // Agreement on nothing would be none: most calls are made, and they come to many ends.
      expect(total.made, JSON.stringify(total)).to.be.greaterThan(total.left * 2)
      expect(codes.size, JSON.stringify([...codes])).to.be.greaterThan(drill(2, 4))
    })
  })

/**
 * The table of docs/reference/gateway.md: what is asked over gRPC, what over HTTP, and the two ends of it.
 */
interface Difference {
  readonly name: string
  readonly grpc: readonly [
    method: DescMethod,
    request: Record<string, unknown>,
    headers: Readonly<Record<string, string>>,
  ]
  readonly code: number
  readonly http: readonly [method: string, path: string, body?: object]
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
}

const { getWidget, updateWidget } = WidgetService.method
const MAKER = { 'account-id': 'acme', subject: 'alice', groups: 'makers' }
const update = (...updateMask: string[]) => ({ widget: { id: 'w', size: 1 }, updateMask })

const DIFFERENCES: readonly Difference[] = [
  {
    name: 'a mask in lowerCamelCase is lenient over HTTP alone',
    grpc: [updateWidget, update('displayName'), MAKER],
    code: 3,
    http: ['PATCH', '/v1/widgets/w?update_mask=displayName', { size: 1 }],
    status: 200,
  },
  {
    name: 'a mask that is wrong in every spelling is refused over HTTP before anybody is',
    grpc: [updateWidget, update('nope'), {}],
    code: 7,
    http: ['PATCH', '/v1/widgets/w?update_mask=nope', { size: 1 }],
    headers: {},
    status: 400,
  },
  {
    name: 'a mask that is wrong in every spelling is refused over both to who may write',
    grpc: [updateWidget, update('nope'), MAKER],
    code: 3,
    http: ['PATCH', '/v1/widgets/w?update_mask=nope', { size: 1 }],
    status: 400,
  },
  {
    name: 'an unknown field is refused over HTTP and kept over gRPC',
    grpc: [getWidget, { id: 'w', $unknown: [{ no: 99, wireType: 0, data: new Uint8Array([1]) }] }, MAKER],
    code: 0,
    http: ['GET', '/v1/widgets/w?nope=1'],
    status: 400,
  },
  {
    name: 'an empty id is not a path over HTTP',
    grpc: [getWidget, { id: '' }, MAKER],
    code: 3,
    http: ['GET', '/v1/widgets/'],
    status: 404,
  },
  {
    name: 'a FieldMask is respelled over HTTP',
    grpc: [getWidget, { id: 'w', readMask: { paths: ['displayName'] } }, MAKER],
    code: 3,
    http: ['GET', '/v1/widgets/w?read_mask=displayName'],
    status: 200,
  },
  {
    name: 'an etag that does not hold has a status of its own over HTTP',
    grpc: [updateWidget, update('size'), { ...MAKER, 'if-match': '"stale"' }],
    code: 9,
    http: ['PATCH', '/v1/widgets/w?update_mask=size', { size: 1 }],
    headers: { ...MAKER, 'if-match': '"stale"' },
    status: 412,
  },
  {
    name: 'If-None-Match is a matter of HTTP',
    grpc: [getWidget, { id: 'w' }, { ...MAKER, 'if-none-match': '*' }],
    code: 0,
    http: ['GET', '/v1/widgets/w'],
    headers: { ...MAKER, 'if-none-match': '*' },
    status: 304,
  },
]

describe('gRPC and HTTP/JSON, on purpose', () => {
  let running: RunningServer
  let grpc: GrpcCaller
  before(async () => {
    running = await startListener(IDENTITIES['headers that are believed'] ?? {})
    grpc = new GrpcCaller(running.grpc)
    const widget = create(WidgetService.method.createWidget.input, { widget: { size: 7 }, widgetId: 'w' })
    expect(await grpc.call(WidgetService.method.createWidget, widget, MAKER)).to.include({ code: 0 })
  })
  after(async () => {
    grpc.close()
    await running.stop()
  })

  for (const { name, grpc: asked, code, http, headers = MAKER, status } of DIFFERENCES)
    it(`differ: ${name}`, async () => {
      const [desc, request, metadata] = asked
      expect(await grpc.call(desc, create(desc.input, request), metadata)).to.include({ code })
      const [method, path, body] = http
      const response = await fetch(`${running.http}${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      expect(response.status).to.equal(status)
    })
})
