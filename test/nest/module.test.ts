import 'reflect-metadata'
import { expect } from 'chai'
import {
  type DynamicModule,
  Injectable,
  Module,
  type INestApplication,
  type INestApplicationContext,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aborted } from '../../lib/errors.js'
import { MemoryRepository } from '../../lib/persistence/memory/memory-repository.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import {
  AshlarHealthIndicator,
  AshlarModule,
  InjectRepository,
  InjectServer,
  principalMiddleware,
  provideService,
  serverToken,
} from '../../lib/nest/index.js'
import type { Config } from '../../lib/server/config/config.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import type { Implementation } from '../../lib/server/chain/handler.js'
import { wrapped } from '../../lib/server/methods/wrapped.js'
import type { Server } from '../../lib/server/server.js'
import type { ServerBuilder } from '../../lib/server/server-builder.js'
import { echoService } from '../support/grpc/echo.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { type EchoRequest, EchoService, NoteService } from '../support/gen/specimens_pb.js'
import { rejection } from '../support/rejection.js'
import { ALICE, ALL, post, recordingLogger } from '../support/servers/server.js'
import { Note } from '../support/entities/specimen.js'

const gate = new EventEmitter()

@Injectable()
class EchoMethods {
  readonly ping = echoService.ping
  readonly count = echoService.count
  readonly collect = echoService.collect
  readonly chat = echoService.chat
  readonly download = echoService.download
  async echo({ text }: EchoRequest) {
    if (text !== 'slow') return { text }
    gate.emit('entered')
    await once(gate, 'open')
    return { text: 'at last' }
  }
}

@Module({ providers: [EchoMethods, provideService(EchoService, { methods: EchoMethods })] })
class EchoModule {}

@Injectable()
class NoteReader {
  constructor(
    @InjectRepository(Note) readonly notes: MemoryRepository<Note>,
    @InjectServer() readonly server: Server,
  ) {}
}

@Module({
  imports: [AshlarModule.forFeature([{ entity: Note, useFactory: () => new MemoryRepository(Note) }])],
  providers: [NoteReader, provideService(NoteService, { repository: Note })],
})
class NoteModule {}

@Injectable()
class LoudNotes implements Partial<Implementation<typeof NoteService>> {
  readonly createNote: Implementation<typeof NoteService>['createNote'] = wrapped(
    { transaction: true },
    async (request, _call, standard) => {
      const note = await standard(request)
      await this.notes.update(note.name, { text: `${note.text}!` }, ['text'])
      if (note.text === 'fails') throw new Aborted('too quiet')
      return standard({ note: { name: `${note.name}-copy`, text: note.text } })
    },
  )

  constructor(@InjectRepository(Note) readonly notes: MemoryRepository<Note>) {}
}

@Module({
  imports: [AshlarModule.forFeature([{ entity: Note, useFactory: () => new MemoryRepository(Note) }])],
  providers: [LoudNotes, provideService(NoteService, { repository: Note, methods: LoudNotes })],
})
class LoudNoteModule {}

const config = (): Config => ({
  grpcAddr: '127.0.0.1:0',
  principalFunc: devPrincipal,
  authorizer: devAuthorizer([ALL]),
  allowDevelopment: true,
  logger: recordingLogger(),
})

const appOf = (...imports: NonNullable<DynamicModule['imports']>): DynamicModule => ({
  module: class App {},
  imports,
})
const quiet = { logger: false, abortOnError: false } as const
const serverOf = (app: INestApplicationContext): Server => app.get(serverToken())

describe('AshlarModule', () => {
  const apps: INestApplicationContext[] = []
  const start = async (module: DynamicModule): Promise<INestApplicationContext> => {
    const app = await NestFactory.createApplicationContext(module, quiet)
    apps.push(app)
    return app
  }
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close()
  })

  it('takes its options from other providers with forRootAsync', async () => {
    @Module({ providers: [{ provide: 'settings', useValue: config() }], exports: ['settings'] })
    class SettingsModule {}
    const app = await start(
      appOf(
        AshlarModule.forRootAsync({
          imports: [SettingsModule],
          inject: ['settings'],
          useFactory: async (settings: Config): Promise<Config> => Promise.resolve(settings),
        }),
        EchoModule,
      ),
    )
    const client = new ForeignClient(EchoService, serverOf(app).grpcAddr())
    expect((await client.unary('Echo', { text: 'hi' }, ALICE)).answer).to.include({ text: 'hi' })
    client.close()
  })

  it('injects repositories and the server into providers of any module', async () => {
    const app = await start(appOf(AshlarModule.forRoot(config()), NoteModule))
    const { notes, server } = app.get(NoteReader)
    expect(server).to.equal(serverOf(app))
    await notes.create({ name: 'notes/a', text: 'hello' })
    const client = new ForeignClient(NoteService, server.grpcAddr())
    expect((await client.unary('GetNote', { name: 'notes/a' }, ALICE)).answer).to.include({ text: 'hello' })
    client.close()
  })

  it('wraps standard methods with those of a provider', async () => {
    const app = await start(appOf(AshlarModule.forRoot(config()), LoudNoteModule))
    const { notes } = app.get(LoudNotes)
    const client = new ForeignClient(NoteService, serverOf(app).grpcAddr())
    const create = (name: string, text: string) => client.unary('CreateNote', { note: { name, text } }, ALICE)
    expect((await create('notes/a', 'hello')).answer).to.include({ name: 'notes/a-copy', text: 'hello' })
    expect((await create('notes/b', 'fails')).code).to.equal(10)
    const { items } = await notes.list()
    expect(items.map(({ name, text }) => [name, text])).to.deep.equal([
      ['notes/a', 'hello!'],
      ['notes/a-copy', 'hello'],
    ])
    client.close()
  })

  it('serves what configure registers', async () => {
    const notes = new MemoryRepository(Note)
    const configure = (server: ServerBuilder) => void server.register(NoteService, notes)
    const app = await start(appOf(AshlarModule.forRoot({ ...config(), configure }), EchoModule))
    const client = new ForeignClient(NoteService, serverOf(app).grpcAddr())
    const made = await client.unary('CreateNote', { note: { name: 'notes/a', text: 'hello' } }, ALICE)
    expect(made.answer).to.include({ name: 'notes/a', text: 'hello' })
    client.close()
  })

  const refusals: readonly (readonly [string, () => Promise<DynamicModule>, RegExp])[] = [
    [
      'a configuration that is wrong',
      () => Promise.resolve(appOf(AshlarModule.forRoot({ ...config(), grpcAddr: '' }), EchoModule)),
      /grpcAddr is empty/,
    ],
    [
      'what is meant for development',
      () =>
        Promise.resolve(appOf(AshlarModule.forRoot({ ...config(), allowDevelopment: false }), EchoModule)),
      /devPrincipal trusts headers/,
    ],
    [
      'an entity without a DataSource to live on',
      () => Promise.resolve(appOf(AshlarModule.forRoot(config()), AshlarModule.forFeature([Note]))),
      /needs a dataSource for the repository of Note/,
    ],
  ]
  for (const [what, module, text] of refusals)
    it(`fails to start with ${what}`, async () => {
      const environment = process.env['NODE_ENV']
      process.env['NODE_ENV'] = 'production'
      try {
        await rejection(start(await module()), Error, text)
      } finally {
        if (environment === undefined) delete process.env['NODE_ENV']
        else process.env['NODE_ENV'] = environment
      }
    })

  it('fails app.listen() when its address is taken', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    const { port } = occupant.address() as AddressInfo
    const module = appOf(AshlarModule.forRoot({ ...config(), grpcAddr: `127.0.0.1:${port}` }), EchoModule)
    const app = await NestFactory.create(module, quiet)
    await rejection(app.listen(0, '127.0.0.1'), Error, /EADDRINUSE|bind/)
    occupant.close()
    await app.close()
  })

  it('drains what runs when the application closes, and destroys the DataSource it initialized', async () => {
    const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Note] })
    const app = await start(appOf(AshlarModule.forRoot({ ...config(), dataSource }), EchoModule))
    const indicator = app.get(AshlarHealthIndicator)
    const client = new ForeignClient(EchoService, serverOf(app).grpcAddr())
    const entered = once(gate, 'entered')
    const slow = client.unary('Echo', { text: 'slow' }, ALICE)
    await entered
    const closed = apps.pop()?.close()
    while ((await indicator.isHealthy('grpc')).grpc.status === 'up') await new Promise(setImmediate)
    // What did not wait for the call would be done by now.
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    expect(dataSource.isInitialized).to.equal(true)
    gate.emit('open')
    expect((await slow).answer).to.include({ text: 'at last' })
    await closed
    expect(dataSource.isInitialized).to.equal(false)
    expect((await client.unary('Ping', {})).code).to.equal(14)
    client.close()
  })

  it('leaves a DataSource alone that somebody else initialized', async () => {
    const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [Note] }).initialize()
    await start(appOf(AshlarModule.forRoot({ ...config(), dataSource }), EchoModule))
    await apps.pop()?.close()
    expect(dataSource.isInitialized).to.equal(true)
    await dataSource.destroy()
  })

  it('takes the DataSource of a global provider by its token', async () => {
    const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [Note] }).initialize()
    const Data = {
      module: class Data {},
      global: true,
      providers: [{ provide: 'data', useValue: dataSource }],
      exports: ['data'],
    }
    const app = await start(
      appOf(Data, AshlarModule.forRoot({ ...config(), dataSource: 'data' }), AshlarModule.forFeature([Note])),
    )
    expect(serverOf(app).grpcAddr()).to.not.equal('')
    await apps.pop()?.close()
    await dataSource.destroy()
  })

  it('names the readiness checks that fail in its health, and nothing of their errors', async () => {
    const check = () => {
      throw new TypeError('password=hunter2')
    }
    const app = await start(
      appOf(AshlarModule.forRoot({ ...config(), readinessChecks: [{ name: 'queue', check }] }), EchoModule),
    )
    expect(await app.get(AshlarHealthIndicator).isHealthy('server')).to.deep.equal({
      server: { status: 'down', failing: ['queue'] },
    })
  })
})

describe('the gateway inside of Nest’s own HTTP server', () => {
  it('serves beside Nest’s routes, without a port of its own', async () => {
    const app: INestApplication = await NestFactory.create(
      appOf(AshlarModule.forRoot(config()), EchoModule),
      quiet,
    )
    app.use(serverOf(app).httpListener())
    app.use('/mine', (_request: unknown, response: { end: (text: string) => void }) => response.end('nest'))
    await app.listen(0, '127.0.0.1')
    const url = await app.getUrl()
    const response = await fetch(`${url}/v1/echo`, post(ALICE, { text: 'mounted' }))
    expect(await response.json()).to.include({ text: 'mounted' })
    expect(await (await fetch(`${url}/mine`)).text()).to.equal('nest')
    expect((await fetch(`${url}/v1/echo`, post({}))).status).to.equal(403)
    expect(serverOf(app).httpAddr()).to.equal('')
    await app.close()
  })
})

describe('principalMiddleware', () => {
  it('refuses the request when the principal cannot be had', async () => {
    const heard: unknown[] = []
    const middleware = principalMiddleware(() => Promise.reject(new TypeError('no such token')))
    await new Promise<void>((resolve) =>
      middleware({ headers: {} } as never, {}, (error) => {
        heard.push(error)
        resolve()
      }),
    )
    expect(heard).to.have.length(1)
    expect(heard[0]).to.have.property('message', 'no such token')
  })
})
