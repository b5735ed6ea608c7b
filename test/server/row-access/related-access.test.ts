import { status } from '@grpc/grpc-js'
import { fromBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { PreconditionFailureSchema } from 'ashlar-annotations/google/rpc/error_details_pb.js'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { type KeyOf, memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { AuthorizedServer } from '../../../lib/server/authz/authorizer.js'
import type { Decision } from '../../../lib/server/authz/decision.js'
import { authorizeEntity } from '../../../lib/server/authz/decision.js'
import { standardMethod } from '../../../lib/server/methods/standard-method.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import {
  BulkService,
  Folder,
  FolderService,
  folderRules,
  Mark,
  Paper,
} from '../../support/servers/folders.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

const ENTITIES = [Folder, Paper, Mark]

describeOn('deletes of served resources', backends, (backend) => {
  let folders: Repository<Folder>
  let papers: Repository<Paper>
  let marks: Repository<Mark>
  let running: RunningServer
  let client: ForeignClient
  let bulk: ForeignClient
  let operations: ForeignClient
  let close: () => Promise<void>
  /** Of the verb and the type. */
  let decide: (asked: string) => Decision
  const asked: string[] = []
  /** What the authorizer was told before the server bound its addresses. */
  let permissions: AuthorizedServer['permissions']

  before(async () => {
    const opened = await backend.open(ENTITIES)
    close = opened.close
    const { dataSource, database } = opened
    const shared = new MemoryDatabase()
    if (dataSource !== undefined && database !== undefined)
      await createTables(collated(dataSource, backend), ENTITIES, database.dialect.name)
    const make = <E extends object>(entity: new () => E): Repository<E, KeyOf<E>> =>
      dataSource === undefined
        ? new (memoryRepositoryOf(entity))({ database: shared })
        : new (repositoryOf(entity))(dataSource)
    folders = make(Folder)
    papers = make(Paper)
    marks = make(Mark)
    running = await startServer(
      (builder) => {
        builder.register(FolderService, folders as never)
        builder.register(BulkService, folders as never)
      },
      {
        rules: folderRules,
        authorizer: {
          decidesByRow: true,
          startUpCheck: (server) => {
            ;({ permissions } = server)
            return []
          },
          authorize: ({ verb, type, resource, principal }) => {
            asked.push(`${verb} ${resource}`)
            return principal.tenant !== '' && decide(`${verb} ${type}`)
          },
        },
      },
    )
    client = new ForeignClient(FolderService, running.grpc)
    bulk = new ForeignClient(BulkService, running.grpc)
    operations = new ForeignClient(Operations, running.grpc)
  })

  beforeEach(async () => {
    decide = () => true
    for (const repository of [marks, papers, folders])
      await RequestContext.asSystem({ reason: 'test' }, async () => {
        const { items } = await (repository as Repository<object>).list({ showDeleted: true, pageSize: 1000 })
        for (const item of items as { id: string; accountId: string; deleteTime?: Date }[])
          if (item.deleteTime === undefined)
            await RequestContext.asSystem({ reason: 'test', tenant: item.accountId }, () =>
              repository.delete(item.id, { force: true }),
            )
      })
    asked.length = 0
  })

  afterEach('the authorizer is told beforehand of all that it is asked', () => {
    const known = permissions.map(({ verb, resource }) => `${verb} ${resource}`)
    expect(known).to.include.members(asked)
  })

  after(async () => {
    client?.close()
    bulk?.close()
    operations?.close()
    await running?.stop()
    await close?.()
  })

  const inAcme = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)
  let n = 0
  /** A folder with papers, the first of them with a mark. */
  const full = (count = 2, marked = true) =>
    inAcme(async () => {
      const { id } = await folders.create({ id: `f${++n}`, title: '' })
      for (let i = 0; i < count; i++) await papers.create({ id: `${id}-${i}`, folderId: id })
      if (marked) await marks.create({ id, paperId: `${id}-0` })
      return id
    })
  const live = () =>
    inAcme(async () => ({
      folders: (await folders.list()).items.length,
      papers: await papers.count(),
      marks: await marks.count(),
    }))
  const NOTHING = { folders: 0, papers: 0, marks: 0 }
  const told = ({ trailers }: Outcome): string[] => {
    const [bytes] = trailers.get('grpc-status-details-bin')
    return fromBinary(StatusSchema, bytes as Buffer).details.flatMap(({ typeUrl, value }) =>
      typeUrl.endsWith('PreconditionFailure')
        ? fromBinary(PreconditionFailureSchema, value).violations.map(({ description }) => description)
        : [],
    )
  }

  it('refuses without force, and deletes with it', async () => {
    const id = await full()
    const refused = await client.unary('DeleteFolder', { id }, ALICE)
    expect(refused.code).to.equal(status.FAILED_PRECONDITION)
    expect(told(refused)).to.deep.equal([
      '1 resource of the type mark refers to it: delete it first, or use force',
    ])
    expect(await live()).to.deep.equal({ folders: 1, papers: 2, marks: 1 })
    expect((await client.unary('DeleteFolder', { id, force: true }, ALICE)).code).to.equal(0)
    expect(await live()).to.deep.equal(NOTHING)
    expect(asked).to.include.members(['delete paper', 'delete mark'])
    const restored = await client.unary('UndeleteFolder', { id }, ALICE)
    expect(restored.code, restored.details).to.equal(0)
    expect(await live()).to.deep.equal({ folders: 1, papers: 2, marks: 1 })
    expect(asked).to.include('undelete paper')
  })

  it('deletes a batch by force', async () => {
    const ids = [await full(), await full()]
    const refused = await client.unary('BatchDeleteFolders', { ids }, ALICE)
    expect(refused.code).to.equal(status.FAILED_PRECONDITION)
    expect((await client.unary('BatchDeleteFolders', { ids, force: true }, ALICE)).code).to.equal(0)
    expect(await live()).to.deep.equal(NOTHING)
  })

  it('says with validate_only what would happen, and changes nothing', async () => {
    const id = await full()
    const dry = { id, validate_only: true }
    expect((await client.unary('DeleteFolder', dry, ALICE)).code).to.equal(status.FAILED_PRECONDITION)
    expect((await client.unary('DeleteFolder', { ...dry, force: true }, ALICE)).code).to.equal(0)
    expect(await live()).to.deep.equal({ folders: 1, papers: 2, marks: 1 })
  })

  it('repeats a reply without deleting again', async () => {
    const id = await full()
    const request = { id, force: true, request_id: `once-${id}` }
    expect((await client.unary('DeleteFolder', request, ALICE)).code).to.equal(0)
    await inAcme(() => folders.undelete(id))
    const again = await client.unary('DeleteFolder', request, ALICE)
    expect(again.code, again.details).to.equal(0)
    expect(again.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
    expect(await live()).to.deep.equal({ folders: 1, papers: 2, marks: 1 })
  })

  it('compares the etag of the parent', async () => {
    const id = await full()
    const other = await client.unary('DeleteFolder', { id, force: true, etag: '"x"' }, ALICE)
    expect(other.code).to.equal(status.FAILED_PRECONDITION)
    const { etag } = await inAcme(() => folders.get(id))
    expect((await client.unary('DeleteFolder', { id, force: true, etag }, ALICE)).code).to.equal(0)
  })

  it('takes nothing along that the caller may not delete', async () => {
    const id = await full()
    const force = { id, force: true }
    for (const decision of [
      false,
      { where: filter`id = ${`${id}-0`}` },
      authorizeEntity<Paper>(({ id: paper }) => paper === `${id}-0`),
    ]) {
      decide = (what) => (what === 'delete paper' ? decision : true)
      const refused = await client.unary('DeleteFolder', force, ALICE)
      expect(refused.code, refused.details).to.equal(status.FAILED_PRECONDITION)
      expect(told(refused)).to.deep.equal(['2 resources of the type paper refer to it: delete them first'])
      expect(await live()).to.deep.equal({ folders: 1, papers: 2, marks: 1 })
    }
    decide = (what) => (what === 'delete paper' ? { where: filter`folder_id = ${id}` } : true)
    expect((await client.unary('DeleteFolder', force, ALICE)).code).to.equal(0)
  })

  it('tells no number of what the caller may not list', async () => {
    const id = await full()
    decide = (what) => what !== 'list mark'
    const refused = await client.unary('DeleteFolder', { id }, ALICE)
    expect(told(refused)).to.deep.equal([
      'resources of the type mark refer to it: delete them first, or use force',
    ])
  })

  it('brings nothing back that the caller may not undelete', async () => {
    const id = await full(2, false)
    await inAcme(() => folders.delete(id))
    decide = (what) => what !== 'undelete paper'
    const refused = await client.unary('UndeleteFolder', { id }, ALICE)
    expect(refused.code).to.equal(status.FAILED_PRECONDITION)
    expect(await live()).to.deep.equal(NOTHING)
  })

  const ended = async (name: unknown) => {
    const { answer } = await operations.unary('WaitOperation', { name, timeout: { seconds: 60 } }, ALICE)
    const { done, error } = answer as { done: boolean; error?: { code: number } | null }
    return { done, code: error?.code ?? 0 }
  }

  it('takes more than a thousand rows along where the method returns an operation', async () => {
    const id = await full(0, false)
    await inAcme(() =>
      papers.transaction(async () => {
        for (let i = 0; i < 1001; i++) await papers.create({ id: `${id}-${i}`, folderId: id })
      }),
    )
    const refused = await client.unary('DeleteFolder', { id }, ALICE)
    expect(refused.code).to.equal(status.FAILED_PRECONDITION)
    expect(told(refused)[0]).to.match(/are more than 1000,/)
    const dry = await bulk.unary('DeleteFolder', { id, validate_only: true }, ALICE)
    expect(dry.answer, dry.details).to.include({ name: '', done: true })
    const started = await bulk.unary('DeleteFolder', { id }, ALICE)
    expect(started.code, started.details).to.equal(0)
    expect(await ended(started.answer?.['name'])).to.deep.equal({ done: true, code: 0 })
    expect(await live()).to.deep.equal(NOTHING)
    const back = await bulk.unary('UndeleteFolder', { id }, ALICE)
    expect(await ended(back.answer?.['name'])).to.deep.equal({ done: true, code: 0 })
    expect((await live()).papers).to.equal(1001)
    const batch = await bulk.unary('BatchDeleteFolders', { ids: [id] }, ALICE)
    expect(await ended(batch.answer?.['name'])).to.deep.equal({ done: true, code: 0 })
  })

  it('ends an operation with the error of the delete', async () => {
    const id = await full()
    decide = (what) => what !== 'delete paper'
    const started = await bulk.unary('DeleteFolder', { id, force: true }, ALICE)
    const { code } = await ended(started.answer?.['name'])
    expect(code).to.equal(status.FAILED_PRECONDITION)
    expect(await live()).to.deep.equal({ folders: 1, papers: 2, marks: 1 })
  })
})

describe('the shape of a delete that takes others along', () => {
  const { message } = resourceModel(Folder)
  for (const service of [FolderService, BulkService])
    for (const method of service.methods)
      it(`is that of ${service.name}.${method.name}`, () => {
        expect(standardMethod(method, message as never)).to.have.property('kind')
      })
})
