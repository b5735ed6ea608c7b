import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../decorators/resource.js'
import { Searchable } from '../../decorators/searchable.js'
import { TenantScoped } from '../../decorators/tenant-scoped.js'
import { ErrNoEncryptor, ErrNoMinter } from '../../lib/errors.js'
import { RequestContext } from '../../lib/context.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import {
  collated,
  type OpenSubject,
  openSubject,
  repositoriesOn,
} from '../conformance/repository/open-subject.js'
import { encryptor } from '../conformance/repository/subject.js'
import { backends, describeOn } from '../support/databases/backends.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { SpecimenService } from '../support/gen/specimens_pb.js'
import { rejection } from '../support/rejection.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../support/servers/server.js'
import { Specimen } from '../support/entities/specimen.js'

/** Rows of the table of specimens, seen as a resource that only PostgreSQL can search. */
@Resource({ type: 'sample' })
@Entity('specimens')
@TenantScoped()
@Searchable({ sources: [{ sql: { postgres: 'title' } }] })
class Sample {
  @PrimaryColumn() id!: string
  @Column() title!: string
  accountId!: string
}

const SpecimenMemory = memoryRepositoryOf(Specimen)
const OTHER = { ...ALICE, 'account-id': 'other' }
const RAW = /constraint|duplicate|SQLSTATE|SQLITE|\bER_|specimens|notes|persistence:|secrets:|null/i

/** Statements of a service's own, whose errors nobody has classified. */
const RAW_STATEMENTS: Readonly<Record<string, string>> = {
  unique: `INSERT INTO notes (name, text, stars) VALUES ('taken', 't', 1)`,
  'not-null': `INSERT INTO notes (name, stars) VALUES ('nameless', 1)`,
}

describeOn('errors as the specification lists them', backends, (backend) => {
  let subject: OpenSubject
  let running: RunningServer
  let client: ForeignClient
  let etag = ''

  before(async () => {
    subject = await openSubject(backend)
    const { dataSource, specimens } = subject
    await dataSource?.query(RAW_STATEMENTS['unique'] as string)
    running = await startServer((builder) =>
      builder.register(SpecimenService, specimens, {
        weighSpecimen: async ({ id }) => {
          await dataSource?.query(RAW_STATEMENTS[id] as string)
          return { id }
        },
      }),
    )
    client = new ForeignClient(SpecimenService, running.grpc)
    for (const id of ['one', 'two', 'gone']) {
      const specimen = { title: id, code: id }
      const { answer, details } = await client.unary('CreateSpecimen', { specimen, specimen_id: id }, ALICE)
      expect(details).to.equal('OK')
      if (id === 'one') etag = String(answer?.['etag'])
    }
    expect((await client.unary('DeleteSpecimen', { id: 'gone' }, ALICE)).code).to.equal(0)
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await subject?.close()
  })

  const update = (id: string, paths: readonly string[], fields: object = {}) => ({
    specimen: { id, ...fields },
    update_mask: { paths },
  })
  const NOT_FOUND = [5, 404, /^Specimen "(none|gone|one)" not found$/] as const
  const CONFLICT = [6, 409, /^(Specimen.* already (exists|taken)|already exists)$/] as const

  interface Row {
    readonly what: string
    readonly method: string
    readonly request: object
    readonly http: readonly [method: string, path: string, body?: object]
    readonly answer: readonly [code: number, status: number, text: string | RegExp]
    readonly headers?: object
    readonly needsDatabase?: boolean
  }
  const rows: readonly Row[] = [
    {
      what: 'Get finds no record',
      method: 'GetSpecimen',
      request: { id: 'none' },
      http: ['GET', '/none'],
      answer: NOT_FOUND,
    },
    {
      what: 'Get finds a soft-deleted record',
      method: 'GetSpecimen',
      request: { id: 'gone' },
      http: ['GET', '/gone'],
      answer: NOT_FOUND,
    },
    {
      what: "Get asks for another tenant's record",
      method: 'GetSpecimen',
      request: { id: 'one' },
      http: ['GET', '/one'],
      answer: NOT_FOUND,
      headers: OTHER,
    },
    {
      what: 'Undelete finds no record',
      method: 'UndeleteSpecimen',
      request: { id: 'none' },
      http: ['POST', '/none:undelete', {}],
      answer: NOT_FOUND,
    },
    {
      what: 'Undelete finds a live record',
      method: 'UndeleteSpecimen',
      request: { id: 'one' },
      http: ['POST', '/one:undelete', {}],
      answer: NOT_FOUND,
    },
    {
      what: 'a create takes a unique value',
      method: 'CreateSpecimen',
      request: { specimen: { code: 'one' } },
      http: ['POST', '', { code: 'one' }],
      answer: CONFLICT,
    },
    {
      what: 'a create takes a key',
      method: 'CreateSpecimen',
      request: { specimen: { code: 'x' }, specimen_id: 'one' },
      http: ['POST', '?specimen_id=one', { code: 'x' }],
      answer: CONFLICT,
    },
    {
      what: 'an update takes a unique value',
      method: 'UpdateSpecimen',
      request: update('two', ['code'], { code: 'one' }),
      http: ['PATCH', '/two?update_mask=code', { code: 'one' }],
      answer: CONFLICT,
    },
    {
      what: 'a statement breaks a unique constraint',
      method: 'WeighSpecimen',
      request: { id: 'unique' },
      http: ['POST', '/unique:weigh', {}],
      answer: CONFLICT,
      needsDatabase: true,
    },
    {
      what: 'a statement breaks a not-null constraint',
      method: 'WeighSpecimen',
      request: { id: 'not-null' },
      http: ['POST', '/not-null:weigh', {}],
      answer: [9, 400, 'precondition failed'],
      needsDatabase: true,
    },
    {
      what: 'an etag does not match',
      method: 'UpdateSpecimen',
      request: update('one', ['title']),
      http: ['PATCH', '/one?update_mask=title', {}],
      answer: [9, 412, 'Specimen "one": precondition failed'],
      headers: { ...ALICE, 'if-match': '"stale"' },
    },
    {
      what: 'a mask names an unknown field',
      method: 'UpdateSpecimen',
      request: update('one', ['colour']),
      http: ['PATCH', '/one?update_mask=colour', {}],
      answer: [3, 400, /colour/],
    },
    {
      what: 'a mask names account_id',
      method: 'UpdateSpecimen',
      request: update('one', ['account_id']),
      http: ['PATCH', '/one?update_mask=account_id', {}],
      answer: [3, 400, /account_id/],
    },
    {
      what: 'a filter names an unknown field',
      method: 'ListSpecimens',
      request: { filter: 'colour = "red"' },
      http: ['GET', '?filter=colour%20%3D%20%22red%22'],
      answer: [3, 400, /^filter: .*colour/],
    },
    {
      what: 'an order names an unknown field',
      method: 'ListSpecimens',
      request: { order_by: 'colour' },
      http: ['GET', '?order_by=colour'],
      answer: [3, 400, /^order_by: .*colour/],
    },
    {
      what: 'nobody calls',
      method: 'GetSpecimen',
      request: { id: 'one' },
      http: ['GET', '/one'],
      answer: [7, 403, 'permission denied'],
      headers: {},
    },
    {
      what: 'a batch has a key that is missing',
      method: 'BatchDeleteSpecimens',
      request: { ids: ['one', 'none'] },
      http: ['POST', ':batchDelete', { ids: ['one', 'none'] }],
      answer: [5, 404, /^Specimen "one" or "(none|gone)" not found$/],
    },
    {
      what: 'a batch has a key that is soft-deleted',
      method: 'BatchUpdateSpecimens',
      request: { requests: [update('one', ['title'], { title: 'changed' }), update('gone', ['title'])] },
      http: [
        'POST',
        ':batchUpdate',
        {
          requests: ['one', 'gone'].map((id) => ({
            specimen: { id, title: 'changed' },
            updateMask: 'title',
          })),
        },
      ],
      answer: [5, 404, /^Specimen "one" or "(none|gone)" not found$/],
    },
  ]
  for (const { what, method, request, http, answer, headers = ALICE, needsDatabase = false } of rows)
    it(`${what}: ${answer[0]} over gRPC, ${answer[1]} over HTTP, and nothing changed`, async function () {
      if (needsDatabase && subject.dataSource === undefined) return this.skip()
      const [code, status, text] = answer
      const outcome = await client.unary(method, request, { ...headers })
      expect(outcome.code, outcome.details).to.equal(code)
      if (typeof text === 'string') expect(outcome.details).to.equal(text)
      else expect(outcome.details).to.match(text)
      expect(outcome.details).not.to.match(RAW)
      const [verb, path, body] = http
      const init = body === undefined ? { headers: { ...headers } } : post(headers, body, verb)
      const response = await fetch(`${running.http}/v1/specimens${path}`, init)
      const said = (await response.json()) as { code: number; message: string }
      expect([response.status, said.code, said.message]).to.deep.equal([status, code, outcome.details])
      const kept = await client.unary('GetSpecimen', { id: 'one' }, ALICE)
      expect(kept.answer).to.include({ title: 'one', code: 'one', etag })
    })

  it('a search that only PostgreSQL can do: Unimplemented elsewhere', async function () {
    const opened = await backend.open([Sample])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) return this.skip()
    await createTables(collated(dataSource, backend), [Sample], database.dialect.name)
    const samples = new TypeormRepository(dataSource, Sample)
    const other = await startServer((builder) =>
      builder.register(
        SpecimenService,
        partly(SpecimenService, {
          listSpecimens: async ({ q }: { q: string }) => {
            const { items } = await samples.list({ search: q })
            return { specimens: items.map(({ id, title }) => ({ id, title })) }
          },
        }),
      ),
    )
    const one = new ForeignClient(SpecimenService, other.grpc)
    const { code, details } = await one.unary('ListSpecimens', { q: 'one' }, ALICE)
    const response = await fetch(`${other.http}/v1/specimens?q=one`, { headers: ALICE })
    one.close()
    await other.stop()
    await opened.close()
    if (backend.name === 'postgres') expect([code, response.status]).to.deep.equal([0, 200])
    else
      expect([code, details, response.status]).to.deep.equal([
        12,
        'full-text search for sample requires PostgreSQL',
        501,
      ])
  })

  it('a repository of credentials without a minter: ErrNoMinter, at once', () => {
    const { dataSource } = subject
    const make = () =>
      dataSource === undefined
        ? new SpecimenMemory({ encryptor })
        : repositoriesOn(dataSource, { encryptor }).specimens
    expect(make).to.throw(ErrNoMinter, 'secrets: no credential minter')
  })

  it('a secret without an encryptor: ErrNoEncryptor, which the log says and the caller does not', async () => {
    const { dataSource } = subject
    const options = { minter: new CredentialMinter() }
    const specimens =
      dataSource === undefined ? new SpecimenMemory(options) : repositoriesOn(dataSource, options).specimens
    const create = (webhookSecret?: string) =>
      RequestContext.as({ tenant: 'bare' }, () =>
        specimens.create({ title: 't', code: 'bare', ...(webhookSecret && { webhookSecret }) }),
      )
    await rejection(create('hush'), ErrNoEncryptor, 'secrets: no encryptor')
    expect(await create()).to.include({ title: 't' })
    const other = await startServer((builder) =>
      builder.register(SpecimenService, specimens, { weighSpecimen: ({ id }) => ({ id }) }),
    )
    const one = new ForeignClient(SpecimenService, other.grpc)
    const specimen = { title: 't', code: 'wired', webhook_secret: 'hush' }
    const { code, details } = await one.unary('CreateSpecimen', { specimen }, ALICE)
    one.close()
    await other.stop()
    expect([code, details]).to.deep.equal([13, 'internal error'])
    const logged = JSON.stringify(other.records)
    expect(logged).to.include('no encryptor').and.not.include('hush')
  })
})
