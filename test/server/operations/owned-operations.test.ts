import { create, fromBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { EventEmitter, once } from 'node:events'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { Authorizer } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity, type Decision } from '../../../lib/server/authz/decision.js'
import { supportsRowAccess } from '../../../lib/server/chain/handler.js'
import { MemoryOperationStore } from '../../../lib/server/operations/memory-operation-store.js'
import type { OperationStore } from '../../../lib/server/operations/operation-store.js'
import { SqlOperationStore } from '../../../lib/server/operations/sql-operation-store.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { Note } from '../../support/entities/specimen.js'
import { type EchoRequest, EchoResponseSchema } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { SlowEcho } from '../../support/grpc/slow-echo.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'

const BOB = { ...ALICE, subject: 'bob' }
/** The same subject, elsewhere. */
const OTHER = { ...ALICE, 'account-id': 'other' }
const NOBODY = { 'account-id': 'acme', groups: 'makers' }
const [OK, INVALID, NOT_FOUND, DENIED] = [0, 3, 5, 7] as const

interface Seen {
  readonly name: string
  readonly done: boolean
  readonly response?: { readonly value: Buffer } | null
}

describeOn('operations where access is decided by row', backends, (backend) => {
  let opened: OpenBackend
  let running: RunningServer
  let echo: ForeignClient
  let operations: ForeignClient
  const notes = new MemoryRepository(Note)
  const gate = new EventEmitter()
  let isHeld = false
  let stops = 0
  let decide: (subject: string) => Decision = () => false

  const authorizer: Authorizer = {
    decidesByRow: true,
    authorize: ({ type, principal }) => type === 'operation' || decide(principal.subject),
  }
  const ofSubject = (subject: string): Decision => ({ where: filter`text = ${subject}` })

  before(async () => {
    opened = await backend.open([])
    const { dataSource } = opened
    if (dataSource !== undefined) await applyBaseline(dataSource)
    const store: OperationStore =
      dataSource === undefined ? new MemoryOperationStore() : new SqlOperationStore(dataSource)
    for (const name of ['alice', 'bob'])
      await RequestContext.as({ tenant: 'acme', subject: 'test' }, () => notes.create({ name, text: name }))
    const list = supportsRowAccess(notes, async (_request: EchoRequest, call: ServerCall, restricted) =>
      call.operations.start(
        { metadata: create(EchoResponseSchema, { text: 'begun' }) },
        async ({ signal }) => {
          signal.addEventListener('abort', () => stops++)
          if (isHeld) await once(gate, 'open')
          const { items } = await restricted.list({})
          return create(EchoResponseSchema, { text: items.map(({ text }) => text).join() })
        },
      ),
    )
    running = await startServer((builder) => builder.register(SlowEcho, partly(SlowEcho, { echo: list })), {
      authorizer,
      operationStore: store,
    })
    echo = new ForeignClient(SlowEcho, running.grpc)
    operations = new ForeignClient(Operations, running.grpc)
  })
  after(async () => {
    echo?.close()
    operations?.close()
    await running?.stop()
    await opened?.close()
  })
  beforeEach(() => {
    isHeld = false
    stops = 0
    decide = ofSubject
  })

  const begin = async (headers: object): Promise<string> => {
    const { answer, details } = await echo.unary('Echo', {}, { ...headers })
    expect(answer, details).to.have.property('name')
    return (answer as unknown as Seen).name
  }
  const wait = async (name: string, headers: object): Promise<string> => {
    const request = { name, timeout: { seconds: 20 } }
    const { answer, details } = await operations.unary('WaitOperation', request, { ...headers })
    const { done, response } = answer as unknown as Seen
    expect(done, details).to.equal(true)
    return fromBinary(EchoResponseSchema, response?.value as Buffer).text
  }
  const namesOf = async (headers: object, size: number): Promise<readonly string[]> => {
    const names: string[] = []
    for (let token = ''; ;) {
      const request = { page_size: size, page_token: token }
      const { answer, details } = await operations.unary('ListOperations', request, { ...headers })
      const page = answer?.['operations'] as Seen[]
      token = answer?.['next_page_token'] as string
      names.push(...page.map(({ name }) => name))
      if (token === '') return names
      expect(page, details).to.have.length(size)
    }
  }
  const over = async (path: string, headers: object, method = 'GET') => {
    const init = method === 'POST' ? post(headers) : { method, headers: { ...headers } }
    const response = await fetch(`${running.http}/v1/${path}`, init)
    return [response.status, (await response.json()) as Record<string, unknown>] as const
  }

  it('belong to who started them: nobody else of the tenant, or of another, reaches one', async () => {
    isHeld = true
    const name = await begin(ALICE)
    for (const [who, headers] of Object.entries({ BOB, OTHER, NOBODY })) {
      for (const method of ['GetOperation', 'WaitOperation', 'CancelOperation', 'DeleteOperation']) {
        const { code, answer } = await operations.unary(method, { name }, { ...headers })
        expect([who, method, code, answer]).to.deep.equal([who, method, NOT_FOUND, undefined])
      }
      expect((await over(name, headers))[0]).to.equal(404)
      expect((await over(`${name}:cancel`, headers, 'POST'))[0]).to.equal(404)
      expect((await over(name, headers, 'DELETE'))[0]).to.equal(404)
    }
    expect(stops).to.equal(0)
    gate.emit('open')
    expect(await wait(name, ALICE)).to.equal('alice')
    expect((await over(name, ALICE))[1]).to.deep.include({ name, done: true })
    expect((await over(name, BOB))[0]).to.equal(404)
    expect((await operations.unary('DeleteOperation', { name }, { ...ALICE })).code).to.equal(OK)
    expect((await operations.unary('GetOperation', { name }, { ...ALICE })).code).to.equal(NOT_FOUND)
  })

  it('are cancelled by who started them', async () => {
    isHeld = true
    const name = await begin(BOB)
    expect((await over(`${name}:cancel`, BOB, 'POST'))[0]).to.equal(200)
    expect(stops).to.equal(1)
    gate.emit('open')
    expect(await wait(name, BOB)).to.equal('bob')
  })

  for (const [what, decision] of [
    ['a decision that allows all', () => true],
    ['a decision in code', () => authorizeEntity(() => true, { where: filter`text != ""` })],
  ] as const)
    it(`belong to who started them with ${what}, also when that has changed since`, async () => {
      decide = decision
      const name = await begin(ALICE)
      expect(await wait(name, ALICE)).to.equal('alice,bob')
      decide = () => true
      expect((await operations.unary('GetOperation', { name }, BOB)).code).to.equal(NOT_FOUND)
      expect((await over(name, BOB))[0]).to.equal(404)
    })

  it('are listed to who started them alone, in full pages', async () => {
    const mine: string[] = []
    const theirs: string[] = []
    for (let n = 0; n < 5; n++) {
      mine.push(await begin({ ...ALICE, subject: 'pages' }))
      theirs.push(await begin({ ...ALICE, subject: 'leaves' }))
    }
    for (const size of [1, 2, 5, 50]) {
      expect(await namesOf({ ...ALICE, subject: 'pages' }, size)).to.deep.equal(mine.sort())
      expect(await namesOf({ ...ALICE, subject: 'leaves' }, size)).to.deep.equal(theirs.sort())
    }
    expect(await namesOf({ ...OTHER, subject: 'pages' }, 50)).to.deep.equal([])
    expect(await namesOf(NOBODY, 50)).to.deep.equal([])
    const [, listed] = await over('operations?pageSize=50', { ...ALICE, subject: 'pages' })
    expect((listed['operations'] as Seen[]).map(({ name }) => name)).to.deep.equal(mine)
    expect((await over('operations', { ...ALICE, subject: 'nothing' }))[1]['operations'] ?? []).to.deep.equal(
      [],
    )
  })

  it('take no page token of somebody else, and none that is made of a name', async () => {
    const name = await begin(ALICE)
    await begin(ALICE)
    const { answer } = await operations.unary('ListOperations', { page_size: 1 }, ALICE)
    const tokens = [answer?.['next_page_token'] as string, Buffer.from(name).toString('base64url')]
    for (const page_token of tokens) {
      expect((await operations.unary('ListOperations', { page_token }, ALICE)).code).to.equal(OK)
      for (const headers of [BOB, OTHER, NOBODY])
        expect((await operations.unary('ListOperations', { page_token }, headers)).code).to.equal(INVALID)
    }
  })

  it('are not started by a call without a subject, which could never be told from others', async () => {
    const { code, details } = await echo.unary('Echo', {}, NOBODY)
    expect([code, details]).to.deep.equal([
      DENIED,
      'the call has no subject, but with row-level decisions an operation belongs to the subject who starts it',
    ])
  })
})
