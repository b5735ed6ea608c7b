import { expect } from 'chai'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import type { Config } from '../../lib/server/config/config.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import { MemoryIdempotencyStore } from '../../lib/server/idempotency/memory-idempotency-store.js'
import { MemoryOperationStore } from '../../lib/server/operations/memory-operation-store.js'
import type { UserInterceptor } from '../../lib/server/chain/user-interceptor.js'
import { ANONYMOUS } from '../../lib/context.js'
import { authority } from '../support/servers/certificates.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { recordingLogger } from '../support/servers/server.js'
import { echoService } from '../support/grpc/echo.js'

const { certificate, key } = authority('builder').issue('localhost')
const tls = { certificateChain: certificate, privateKey: key }
const authenticator = { authenticate: () => Promise.resolve(ANONYMOUS) }
const authorizer = devAuthorizer()
const first: UserInterceptor = (_call, next) => next()
const second: UserInterceptor = (_call, next) => next()
const idempotencyStore = new MemoryIdempotencyStore()
const operationStore = new MemoryOperationStore()
const logger = recordingLogger()
const rule = { method: '/a.B/C', verb: 'get', resource: 'a' }
const otherRule = { method: '/a.B/D', public: true }
const handler = () => new Response('here')
const ready = () => {}
const worker = { start: () => {}, drain: () => Promise.resolve() }

type Methods = { readonly [Name in keyof ServerBuilder]: unknown }

/**
 * Each method, what it is called with (twice where it adds or merges), and what the configuration holds then.
 */
const ROWS: Readonly<
  Record<
    Exclude<keyof Methods, 'build' | 'register'>,
    readonly [(builder: ServerBuilder) => ServerBuilder, keyof Config, unknown]
  >
> = {
  grpcAddr: [(builder) => builder.grpcAddr(':1234'), 'grpcAddr', ':1234'],
  httpAddr: [(builder) => builder.httpAddr(':1235'), 'httpAddr', ':1235'],
  metricsAddr: [(builder) => builder.metricsAddr('127.0.0.1:1236'), 'metricsAddr', '127.0.0.1:1236'],
  rules: [(builder) => builder.rules(rule).rules(otherRule), 'rules', [rule, otherRule]],
  authorizer: [(builder) => builder.authorizer(authorizer), 'authorizer', authorizer],
  principalFunc: [(builder) => builder.principalFunc(devPrincipal), 'principalFunc', devPrincipal],
  authenticator: [(builder) => builder.authenticator(authenticator), 'authenticator', authenticator],
  interceptors: [
    (builder) => builder.interceptors(first).interceptors(second),
    'interceptors',
    [first, second],
  ],
  httpHandler: [
    (builder) => builder.httpHandler('/a', handler).httpHandler('/b/', handler),
    'httpHandlers',
    [
      { pattern: '/a', handler },
      { pattern: '/b/', handler },
    ],
  ],
  idempotencyStore: [
    (builder) => builder.idempotencyStore(idempotencyStore),
    'idempotencyStore',
    idempotencyStore,
  ],
  deduplicationStore: [
    (builder) => builder.deduplicationStore(idempotencyStore),
    'deduplicationStore',
    idempotencyStore,
  ],
  lroStore: [(builder) => builder.lroStore(operationStore), 'lroStore', operationStore],
  operationStore: [(builder) => builder.operationStore(operationStore), 'operationStore', operationStore],
  logger: [(builder) => builder.logger(logger), 'logger', logger],
  readinessCheck: [
    (builder) => builder.readinessCheck('a', ready).readinessCheck('b', ready),
    'readinessChecks',
    [
      { name: 'a', check: ready },
      { name: 'b', check: ready },
    ],
  ],
  workers: [(builder) => builder.workers(worker).workers(worker), 'workers', [worker, worker]],
  resilience: [
    (builder) =>
      builder.resilience({ requestTimeoutMs: 7 }).resilience({ perMethodTimeoutMs: { '/a.B/C': 8 } }),
    'resilience',
    { requestTimeoutMs: 7, perMethodTimeoutMs: { '/a.B/C': 8 } },
  ],
  gateway: [
    (builder) => builder.gateway({ updateMask: 'strict' }).gateway({ maxBodyBytes: 9 }),
    'gateway',
    { updateMask: 'strict', maxBodyBytes: 9 },
  ],
  tls: [(builder) => builder.tls(tls), 'tls', tls],
  httpTls: [(builder) => builder.httpTls('none'), 'httpTls', 'none'],
  limits: [
    (builder) => builder.limits({ maxMessageBytes: 10 }).limits({ maxHeaderBytes: 11 }),
    'limits',
    { maxMessageBytes: 10, maxHeaderBytes: 11 },
  ],
  slowListMs: [(builder) => builder.slowListMs(13), 'slowListMs', 13],
  shutdownDelayMs: [(builder) => builder.shutdownDelayMs(12), 'shutdownDelayMs', 12],
  reflection: [(builder) => builder.reflection(), 'reflection', true],
  explainDenials: [(builder) => builder.explainDenials(), 'explainDenials', true],
  allowDevelopment: [(builder) => builder.allowDevelopment(), 'allowDevelopment', true],
}

/** What the builder would build with. */
const configOf = (builder: ServerBuilder): Config => {
  let seen: Config = {}
  builder.build((config) => {
    seen = config
    return { grpcAddr: '127.0.0.1:0', logger }
  })
  return seen
}

describe('the methods of ServerBuilder', () => {
  it('has a row for each', () => {
    const methods = Object.getOwnPropertyNames(ServerBuilder.prototype).filter(
      (name) => !['constructor', 'build', 'register'].includes(name),
    )
    expect(methods.sort()).to.deep.equal(Object.keys(ROWS).sort())
  })

  for (const [name, [configure, field, expected]] of Object.entries(ROWS))
    it(`${name} sets ${field} and nothing else`, () => {
      expect(configOf(configure(new ServerBuilder()))).to.deep.equal({ [field]: expected })
    })

  for (const [name, [configure, field, expected]] of Object.entries(ROWS))
    it(`${name} leaves what a given Config says of other fields`, () => {
      const other = field === 'httpAddr' ? { grpcAddr: ':9' } : { httpAddr: ':9' }
      expect(configOf(configure(new ServerBuilder(other)))).to.deep.equal({ ...other, [field]: expected })
    })

  it('reflection(false) and allowDevelopment(false) take it back', () => {
    const builder = new ServerBuilder({ reflection: true, allowDevelopment: true })
    expect(configOf(builder.reflection(false).allowDevelopment(false))).to.deep.equal({
      reflection: false,
      allowDevelopment: false,
    })
  })

  it('register is what the server serves', () => {
    const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger })
      .register(EchoService, echoService)
      .build()
    expect([...server.services().keys()]).to.include(EchoService)
  })
})

/** What the fields do once they are set is shown where each is at home; these had nobody to show it. */
describe('a server built by methods', () => {
  it('registers by grpcServer().add what register would have', () => {
    const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger }).build()
    server.grpcServer().add(EchoService, echoService)
    expect([...server.services().keys()]).to.include(EchoService)
    expect(server.rules().map(({ method }) => method)).to.include('/specimens.v1.EchoService/Echo')
  })
})
