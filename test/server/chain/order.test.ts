import { type Span, trace, type Tracer } from '@opentelemetry/api'
import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { randomUUID } from 'node:crypto'
import { Metadata } from '../../../lib/call.js'
import type { Config } from '../../../lib/server/config/config.js'
import { Deadline } from '../../../lib/server/chain/deadline.js'
import { type Method, methodOf } from '../../../lib/server/chain/method.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import {
  EchoResponseSchema,
  EchoService,
  SpecimenSchema,
  SpecimenService,
} from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { expectGolden } from '../../support/golden.js'
import { ALICE, partly, post, startServer } from '../../support/servers/server.js'

/** What tells that a stage was reached: the header or the field that it and no other reads. */
const HEADERS: Readonly<Record<string, string>> = {
  'x-request-id': 'request ID',
  'account-id': 'tenant ID',
  'if-match': 'etag',
}
const FIELDS: Readonly<Partial<Record<keyof Method, string>>> = {
  updateMask: 'field mask',
  readMask: 'read mask',
  validateOnly: 'validate only',
}

describe('the order of the chain', () => {
  const trail: string[] = []
  const note = (stage: string) => {
    if (trail.at(-1) !== stage) trail.push(stage)
  }
  const undo: (() => void)[] = []

  before(() => {
    const { get, getAll } = Metadata.prototype
    const seen = (name: string) => {
      const stage = HEADERS[name]
      if (stage !== undefined) note(stage)
    }
    Metadata.prototype.get = function (name) {
      seen(name)
      return get.call(this, name)
    }
    // The gateway copies headers of the answer with getAll; of what comes in, only If-Match is read so.
    Metadata.prototype.getAll = function (name) {
      if (name === 'if-match') seen(name)
      return getAll.call(this, name)
    }
    undo.push(() => Object.assign(Metadata.prototype, { get, getAll }))
    const { mustGoOn } = Deadline.prototype
    Deadline.prototype.mustGoOn = function () {
      note('timeout')
      mustGoOn.call(this)
    }
    undo.push(() => Object.assign(Deadline.prototype, { mustGoOn }))
    // Spans of HTTP and of calls alike; one that is heard of needs an id.
    const startSpan = (name: string): Span => {
      note(name.includes('.') ? 'tracing' : 'tracing of HTTP')
      return trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 })
    }
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as Tracer })
    undo.push(() => trace.disable())
    for (const desc of [SpecimenService.method.updateSpecimen, SpecimenService.method.createSpecimen])
      watchFields(desc)
  })

  after(() => {
    for (const restore of undo) restore()
  })

  const watchFields = (desc: DescMethod) => {
    const method = methodOf(desc)
    for (const [name, stage] of Object.entries(FIELDS)) {
      const read = method[name as 'updateMask']
      const watched = (message: Message) => {
        note(stage)
        return read?.(message) ?? []
      }
      Object.assign(method, { [name]: watched })
      undo.push(() => Object.assign(method, { [name]: read }))
    }
  }

  const store = new MemoryIdempotencyStore()
  const config: Config = {
    idempotencyStore: {
      claim: (key, fingerprint, leaseMs) => {
        note('idempotency')
        return store.claim(key, fingerprint, leaseMs)
      },
    },
    authenticator: {
      authenticate: async () => {
        note('authentication')
        return { subject: 'alice', tenant: 'acme', groups: [], scopes: [] }
      },
    },
    principalFunc: ({ verified }) => {
      note('authorization')
      return verified ?? { subject: '', tenant: '', groups: [], scopes: [] }
    },
    authorizer: { authorize: () => true },
    interceptors: [
      (_call, next) => {
        note('first user interceptor')
        return next()
      },
      (_call, next) => {
        note('second user interceptor')
        return next()
      },
    ],
    resilience: {
      rateLimiter: { consume: async () => note('rate limiter') },
      circuitBreaker: {
        execute: (fn) => {
          note('circuit breaker')
          return fn()
        },
      },
    },
    logger: {
      debug: () => {},
      info: () => note('logging'),
      warn: () => {},
      error: (_fields, message) => note(message === 'rpc' ? 'logging' : 'error mapping'),
    },
  }

  it('is that of the specification for unary, streaming and gateway calls', async () => {
    const fail = (): never => {
      note('handler')
      throw new TypeError('on purpose')
    }
    const chat = async function* () {
      note('handler')
      yield await Promise.resolve(create(EchoResponseSchema))
      throw new TypeError('on purpose')
    }
    const running = await startServer(
      (builder) =>
        builder
          .register(EchoService, partly(EchoService, { chat, collect: fail, count: chat }))
          .register(
            SpecimenService,
            partly(SpecimenService, { updateSpecimen: fail, createSpecimen: handled }),
          ),
      config,
    )
    const specimens = new ForeignClient(SpecimenService, running.grpc)
    const echo = new ForeignClient(EchoService, running.grpc)
    const keyless = { ...ALICE, authorization: 'Bearer token' }
    const headers = () => ({ ...keyless, 'idempotency-key': randomUUID() })
    const update = { specimen: { id: '1' }, update_mask: { paths: ['title'] } }
    const url = `${running.http}/v1/specimens`
    const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['unary, done', () => specimens.unary('CreateSpecimen', {}, headers())],
      ['unary, failed', () => specimens.unary('UpdateSpecimen', update, headers())],
      ['server stream, failed', () => echo.stream('Count', [{}], headers())],
      ['client stream, failed', () => echo.stream('Collect', [{}], keyless)],
      ['bidirectional stream, failed', () => echo.stream('Chat', [{}], keyless)],
      ['gateway, done', () => fetch(url, post(headers()))],
      ['gateway, failed', () => fetch(`${url}/1?update_mask=title`, post(headers(), {}, 'PATCH'))],
    ]
    const text: string[] = []
    for (const [name, call] of calls) {
      trail.length = 0
      await call()
      text.push(`${name}:`, ...trail.map((stage) => `  ${stage}`), '')
    }
    expectGolden('chain.txt', text.join('\n'))
    specimens.close()
    echo.close()
    await running.stop()
  })

  const handled = () => {
    note('handler')
    return create(SpecimenSchema, { id: '1' })
  }
})
