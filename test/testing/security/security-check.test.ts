import { expect } from 'chai'
import type { Message } from '@bufbuild/protobuf'
import { WidgetService, type Widget as WidgetMessage } from '../../../examples/widgets/gen/widgets_pb.js'
import { widgetServer } from '../../../examples/widgets/main.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { CredentialMinter, newDev } from '../../../lib/secrets/index.js'
import { devAuthorizer, ServerBuilder, supportsValidateOnly } from '../../../lib/server/index.js'
import { type Requests, securityCheck, type SecurityReport, testServer } from '../../../lib/testing/index.js'
import { openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import {
  type CreateNoteRequest,
  type CreateSpecimenRequest,
  EchoService,
  type Note as NoteMessage,
  NoteService,
  type Specimen as SpecimenMessage,
  SpecimenService,
  UndeclaredService,
} from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { partly, recordingLogger } from '../../support/servers/server.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

const PING = '/specimens.v1.EchoService/Ping'
const SpecimenMemory = memoryRepositoryOf(Specimen)
const WidgetMemory = memoryRepositoryOf(Widget)
const NoteMemory = memoryRepositoryOf(Note)

/** What was found: which check, of which method, without the text. */
const found = ({ findings }: SecurityReport): readonly string[] => [
  ...new Set(findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)),
]

describeOn('securityCheck', backends, (backend) => {
  it('finds nothing wrong with a service that a repository serves', async function () {
    const { specimens, notes, close } = await openSubject(backend)
    try {
      const builder = new ServerBuilder()
        .register(SpecimenService, specimens, {
          weighSpecimen: async ({ id }) => specimens.model.toMessage(await specimens.get(id)),
        })
        .register(NoteService, notes)
        .register(EchoService, echoService)
      const report = await securityCheck(builder, { publicMethods: [PING] })
      expect(report.findings).to.deep.equal([])
      expect(report.passed).to.equal(true)
      expect(report.methods).to.equal(24)
      expect(report.calls).to.be.above(1000)
      const leftOut = new Set(report.notChecked.map(({ method }) => method.split('/').at(-1)))
      expect([...leftOut]).to.have.members([
        ...EchoService.methods.map(({ name }) => name).filter((name) => name !== 'Ping'),
        // Everybody reads notes; who writes them, `as` would say.
        ...NoteService.methods.map(({ name }) => name).filter((name) => !/^(Get|List|BatchGet)/.test(name)),
      ])
    } finally {
      await close()
    }
  })
})

describe('securityCheck', function () {
  it('finds nothing wrong with the widgets, by both listeners and as they are built', async () => {
    const server = await widgetServer({
      database: ':memory:',
      grpcAddr: '127.0.0.1:0',
      httpAddr: '127.0.0.1:0',
      logger: recordingLogger(),
    })
    const report = await securityCheck(server, { as: { subject: 'ada', groups: ['staff'] } })
    expect(report).to.deep.include({ passed: true, findings: [], notChecked: [], methods: 13 })
  })

  it('says so when it cannot make the calls that it has to', async () => {
    const server = await widgetServer({
      database: ':memory:',
      grpcAddr: '127.0.0.1:0',
      httpAddr: '127.0.0.1:0',
      logger: recordingLogger(),
    })
    const report = await securityCheck(server)
    expect(report.passed).to.equal(false)
    expect(found(report)).to.include('unchecked GetWidget').and.include('unchecked BatchDeleteWidgets')
    expect(report.findings.find(({ check }) => check === 'unchecked')?.text).to.match(/permission denied/)
  })

  it('reports each hole of a service that leaks, by its method', async () => {
    const report = await securityCheck(leaky())
    expect(found(report)).to.have.members([
      'isolation GetSpecimen',
      'isolation ListSpecimens',
      'isolation DeleteSpecimen',
      'isolation UpdateSpecimen',
      'isolation UndeleteSpecimen',
      'isolation BatchUpdateSpecimens',
      'error text BatchDeleteSpecimens',
      'unchecked BatchDeleteSpecimens',
      'error text BatchGetSpecimens',
      'secret WeighSpecimen',
      'secret CreateSpecimen',
      'secret ',
    ])
    const texts = report.findings.map(({ method, text }) => `${method.split('/').at(-1)}: ${text}`)
    expect(texts).to.include.members([
      "GetSpecimen: it returns another tenant's resource as if it were the caller's own",
      "GetSpecimen: what another tenant wrote is in the caller's response",
      "ListSpecimens: it lists another tenant's resources",
      "UndeleteSpecimen: another tenant's resource can be distinguished from a missing one: PERMISSION_DENIED",
      "UpdateSpecimen: another tenant's calls changed or removed a resource",
      'BatchDeleteSpecimens: an error contains the text of a constraint: throw the error classes of ashlar',
      'BatchGetSpecimens: an error contains the name of a table or column: throw the error classes of ashlar',
      'CreateSpecimen: a Create that only validates shows a token',
      ': a secret or a token is in what the service logs or prints',
    ])
    expect(JSON.stringify(report)).to.not.match(/hush[0-9a-f]{16}/)
  })

  it('reports what is declared wrong, without a call', async () => {
    const builder = new ServerBuilder()
      .register(UndeclaredService, { lurk: () => ({}) })
      .register(EchoService, echoService)
      .register(SpecimenService, partly(SpecimenService, {}))
      .rules(
        { method: '/gone.v1.GoneService/Go', verb: 'get', resource: 'gone' },
        { method: '/specimens.v1.UndeclaredService/Lurk', resource: 'lair' },
      )
    const report = await securityCheck(builder)
    expect(found(report)).to.include.members([
      'rule Lurk',
      'stray rule Go',
      'public Ping',
      'unmarked secret GetSpecimen',
    ])
    expect(report.calls).to.equal(0)
    const plainFields = ['specimens.v1.Specimen.webhook_secret', 'specimens.v1.Specimen.api_key']
    const told = await securityCheck(builder, { publicMethods: [PING], plainFields })
    expect(found(told)).to.have.members(['rule Lurk', 'stray rule Go'])
  })

  it('reports a rule that has a verb and no resource', async () => {
    const rule = { method: '/specimens.v1.UndeclaredService/Lurk', verb: 'get' }
    const builder = new ServerBuilder().register(UndeclaredService, { lurk: () => ({}) }).rules(rule)
    expect(found(await securityCheck(builder))).to.deep.equal(['rule Lurk'])
  })

  it('reports a template that names no field', async () => {
    const rule = { method: '/specimens.v1.UndeclaredService/Lurk', verb: 'get', resource: 'lair:{lair_id}' }
    const builder = new ServerBuilder().register(UndeclaredService, { lurk: () => ({}) }).rules(rule)
    expect(found(await securityCheck(builder))).to.deep.equal(['template Lurk'])
  })

  it('reports a server that lets strangers in', async () => {
    const open = new ServerBuilder({ authorizer: { authorize: ({ verb }) => verb === 'list' } })
    const report = await securityCheck(open.register(NoteService, new NoteMemory()))
    expect(found(report)).to.deep.equal(['denial ListNotes'])
    expect(report.findings.map(({ text }) => text)).to.deep.equal(['a caller without any grant gets OK'])
    const meant = await securityCheck(open, { openMethods: ['/specimens.v1.NoteService/ListNotes'] })
    expect(meant.findings).to.deep.equal([])
  })

  it('reports a server that takes nobody for somebody', async () => {
    const admin = { subject: 'admin', tenant: 'acme', groups: [], scopes: [] }
    const server = new ServerBuilder({
      grpcAddr: '127.0.0.1:0',
      logger: recordingLogger(),
      principalFunc: () => admin,
      authorizer: { authorize: () => true },
    })
      .register(NoteService, new NoteMemory())
      .build()
    const report = await securityCheck(server)
    expect(found(report)).to.include('denial GetNote')
    expect(report.findings.map(({ text }) => text)).to.include('nobody gets NOT_FOUND')
  })

  it('reports a denial that tells what is there', async () => {
    const notes = new NoteMemory()
    const getNote = async ({ name }: { name: string }) => {
      const { subject } = RequestContext.current().principal
      const note = await notes.get(name)
      if (subject.startsWith('unknown-')) throw new PermissionDenied()
      return notes.model.toMessage<NoteMessage>(note)
    }
    const builder = new ServerBuilder({ authorizer: devAuthorizer([ANYBODY]) })
    const report = await securityCheck(builder.register(NoteService, notes, { getNote }), {
      openMethods: NoteService.methods.map(({ name }) => `/specimens.v1.NoteService/${name}`),
    })
    expect(found(report)).to.deep.equal(['denial GetNote'])
    expect(report.findings[0]?.text).to.match(/can distinguish existing resources from missing ones/)
  })

  it('wants values of yours where its own are refused, and says so', async () => {
    const notes = new NoteMemory()
    const createNote = async ({ note }: CreateNoteRequest) => {
      if (note?.text.startsWith('Dear ') !== true) throw new InvalidArgument('note.text', 'has to be polite')
      return notes.model.toMessage<NoteMessage>(await notes.create(notes.model.fromMessage(note)))
    }
    const builder = new ServerBuilder().register(NoteService, notes, { createNote })
    const refused = await securityCheck(builder)
    expect(found(refused)).to.have.members(NoteService.methods.map(({ name }) => `unchecked ${name}`))
    expect(refused.findings[0]?.text).to.match(
      /note\.text: has to be polite\): give `samples` for specimens\.v1\.Note/,
    )
    const samples = { 'specimens.v1.Note': (n: number) => ({ text: `Dear ${n}`, stars: n }) }
    expect((await securityCheck(builder, { samples })).findings).to.deep.equal([])

    const said = async (given: NonNullable<Parameters<typeof securityCheck>[1]>['samples']) =>
      securityCheck(builder, { samples: given ?? {} }).then(
        ({ findings }) => findings[0]?.text,
        (error: unknown) => String(error),
      )
    expect(await said({ 'specimens.v1.Note': () => ({ text: 'rude' }) })).to.include(
      'change the function of specimens.v1.Note in `samples`',
    )
    expect(await said({ 'specimens.v1.Notes': () => ({}) })).to.equal(
      'TypeError: samples: specimens.v1.Notes is not a resource of the server, such as package.Message',
    )
    expect(await said({ 'specimens.v1.Note': () => ({ txet: '' }) })).to.match(
      /^TypeError: samples of specimens\.v1\.Note: txet is not a field of it, which are .*text/,
    )
  })

  it('makes the requests that it is given, and names the methods that it has none for', async () => {
    const widgets = new WidgetMemory()
    const retireWidget = async ({ id }: { id: string }) =>
      widgets.model.toMessage<WidgetMessage>(await widgets.get(id))
    const everywhere = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.asSystem(fn)
    let echo = async (id: string) => (await widgets.get(id)).displayName
    const builder = new ServerBuilder()
      .register(WidgetService, widgets, { retireWidget })
      .register(EchoService, { ...echoService, echo: async ({ text }) => ({ text: await echo(text) }) })
    const path = '/specimens.v1.EchoService/Echo'
    const leaveOut = Object.fromEntries(
      WidgetService.methods
        .filter(({ name }) => !['CreateWidget', 'GetWidget'].includes(name))
        .map(({ name }) => [`/widgets.v1.WidgetService/${name}`, 'other tests attack it']),
    )
    const check = async (requests: Requests = { [path]: (key) => ({ text: key('widgets.v1.Widget') }) }) =>
      securityCheck(builder, { publicMethods: [PING], requests, leaveOut })
    const ofEcho = ({ notChecked }: SecurityReport) => notChecked.filter(({ method }) => method === path)

    const safe = await check()
    expect(safe.findings).to.deep.equal([])
    expect(ofEcho(safe).map(({ reason }) => reason)).to.deep.equal([
      'not tried: other values of number, nested.leaf, nested.size, nested.inner.leaf, nested.inner.size and 12 more',
    ])
    const without = await check({})
    expect(
      ofEcho(without)
        .map(({ reason }) => reason)
        .join(),
    ).to.include(`give \`requests\` for ${path}`)

    echo = async (id) => (await everywhere(() => widgets.get(id))).displayName
    expect(found(await check())).to.deep.equal(['isolation Echo'])
    echo = async (id) => {
      const all = await everywhere(() => widgets.list({ pageSize: 1000 }))
      if (all.items.some((one) => one.id === id)) throw new PermissionDenied()
      throw new ErrNotFound()
    }
    const told = await check()
    expect(found(told)).to.deep.equal(['isolation Echo', 'unchecked Echo'])
    echo = () => Promise.reject(new InvalidArgument('text', 'is never right'))
    const refused = await check()
    expect(found(refused)).to.deep.equal(['unchecked Echo'])
    expect(refused.findings.map(({ text }) => text)).to.include(
      'its own tenant gets INVALID_ARGUMENT: text: is never right: change its function in `requests`',
    )

    await rejection(
      check({ '/nobody.v1.Serves/This': () => ({}) }),
      TypeError,
      'requests: /nobody.v1.Serves/This is no',
    )
    await rejection(
      check({ [path]: (key) => ({ text: key('nobody.v1.Has') }) }),
      TypeError,
      'asks for a key of nobody.v1.Has',
    )
  })

  it('reports SQL that a handler tells, and leaves the process as it was', async () => {
    const { write } = process.stdout
    const notes = new NoteMemory()
    const builder = new ServerBuilder().register(NoteService, notes, {
      listNotes: async () => {
        const { items } = await notes.list()
        throw new InvalidArgument('', `SELECT ${items.length} FROM notes`)
      },
    })
    const report = await securityCheck(builder)
    expect(found(report)).to.have.members(['error text ListNotes', 'unchecked ListNotes'])
    expect(process.stdout.write).to.equal(write)
  })
})

const ANYBODY = { tenant: '*', subjects: ['*'], verbs: ['*'], resource: '*' }

/** Every mistake that a handler can make, one in each method. */
function leaky(): ServerBuilder {
  const specimens = new SpecimenMemory({
    minter: new CredentialMinter(),
    encryptor: newDev(Buffer.alloc(32, 3)),
  })
  const { model } = specimens
  const everywhere = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.asSystem(fn)
  let isTold = false
  const message = (entity: Specimen): SpecimenMessage => model.toMessage<SpecimenMessage>(entity)
  return new ServerBuilder().register(SpecimenService, specimens, {
    getSpecimen: async ({ id }) => message(await everywhere(() => specimens.get(id))),
    listSpecimens: async () => {
      const { items } = await everywhere(() => specimens.list({ pageSize: 1000 }))
      return { specimens: items.map(message) }
    },
    deleteSpecimen: async ({ id }) => {
      await everywhere(() => specimens.delete(id))
      return {}
    },
    updateSpecimen: async ({ specimen, updateMask }) => {
      const { id = '', webhookSecret = '' } = specimen ?? {}
      if (webhookSecret.startsWith('hush') && !isTold)
        isTold = process.stderr.write(`    (${Buffer.from(webhookSecret).toString('base64')})\n`)
      const entity = model.fromMessage(specimen as Message)
      return message(await everywhere(() => specimens.update(id, entity, (updateMask?.paths ?? []) as never)))
    },
    undeleteSpecimen: async ({ id }) => {
      const all = await everywhere(() => specimens.list({ showDeleted: true, pageSize: 1000 }))
      const theirs = all.items.find((one) => one.id === id)
      if (theirs === undefined) throw new ErrNotFound()
      if (theirs.accountId !== RequestContext.current().tenant) throw new PermissionDenied()
      return message(await specimens.undelete(id))
    },
    batchUpdateSpecimens: async ({ requests }) => {
      const updated: SpecimenMessage[] = []
      for (const { specimen } of requests)
        updated.push(message(await everywhere(() => specimens.get(specimen?.id ?? ''))))
      return { specimens: updated }
    },
    batchDeleteSpecimens: () => {
      throw new InvalidArgument('', 'UNIQUE constraint failed: specimens.code')
    },
    batchGetSpecimens: async ({ ids }) => {
      const entities = await specimens.batchGet(ids).catch(() => undefined)
      if (entities === undefined) throw new ErrNotFoundIn('specimens')
      return { specimens: entities.map(message) }
    },
    createSpecimen: supportsValidateOnly(async ({ specimen }: CreateSpecimenRequest) => {
      const made = await specimens.create(model.fromMessage(specimen as Message))
      return { ...message(made), apiKey: String(made.apiKey ?? '') }
    }),
    weighSpecimen: async ({ id }) => {
      const secret = await specimens.revealWebhookSecret(id)
      return { ...message(await specimens.get(id)), note: `weighed with ${secret ?? ''}` }
    },
  })
}

/** Says where nothing was found. */
class ErrNotFoundIn extends ErrNotFound {
  override readonly wireMessage: string

  constructor(table: string) {
    super()
    this.wireMessage = `nothing in "${table}"`
  }
}

describe('an error that repeats a long value', () => {
  it('reaches its caller, and leaves the connection to others', async () => {
    const notes = new NoteMemory()
    const say = (length: number) => {
      throw new InvalidArgument('name', 'é'.repeat(length))
    }
    await using server = await testServer((builder) =>
      builder.register(NoteService, notes, { getNote: ({ name }) => say(Number(name)) }),
    )
    const client = server.as({ tenant: 'acme', subject: 'ada' }).client(NoteService)
    for (const length of [10, 1000, 100_000, 1_000_000]) {
      const outcome = client.getNote({ name: String(length) }, { signal: AbortSignal.timeout(20_000) })
      const said = await outcome.then(String, (error: { details: string }) => error.details)
      expect(said).to.match(/^name: éééé/)
      if (length > 1000) expect(said).to.include(`… (${length + 'name: '.length} characters)`)
    }
    await client.listNotes({})
  })
})
