import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, CreateDateColumn, DeleteDateColumn, Entity, PrimaryColumn, VersionColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError, ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { repositoryContract } from '../../../lib/testing/contract/repository-contract.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { backends, coalesced, describeOn, openWithTables } from '../../support/databases/backends.js'
import { EditionSchema, EditionService } from '../../support/gen/editions_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, startServer } from '../../support/servers/server.js'
import { inAcme } from '../repository/subject.js'
import { messageOf, TEXT } from '../typeorm/declared-row.js'

const message = messageOf(['id', 'title', 'etag'].map((name) => [name, TEXT] as const))

@Resource({ message, type: 'paper' })
@Entity('versioned_papers')
@TenantScoped()
class Paper {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) title!: string
  @CreateDateColumn() createdAt!: Date
  @VersionColumn() version!: number
  accountId!: string
}

@Resource({ message: EditionSchema, type: 'edition' })
@Entity('versioned_editions')
@TenantScoped()
class VersionedEdition {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) publisherId!: string
  @Column({ length: 40 }) seriesId!: string
  @Column({ length: 40 }) title!: string
  @Column() pages!: number
  @CreateDateColumn() createTime!: Date
  @DeleteDateColumn() deleteTime?: Date
  @VersionColumn() version!: number
  accountId!: string
}

/** Has the etag of the message, which the class does not declare. */
type Etagged = Paper & { readonly etag: string }

describeOn('an etag of @VersionColumn()', [...backends, ...coalesced], (backend) => {
  let papers: Repository<Etagged>
  let dataSource: DataSource | undefined
  let close: () => Promise<void>
  let now = new Date('2026-01-02T03:04:05.678Z')

  before(async () => {
    ;({ dataSource, close } = await openWithTables(backend, [Paper]))
    if (dataSource !== undefined) await applyBaseline(dataSource)
  })
  beforeEach(async () => {
    await dataSource?.query('DELETE FROM versioned_papers')
    const options = { now: () => now }
    papers = (dataSource === undefined
      ? new MemoryRepository(Paper, options)
      : new TypeormRepository(dataSource, Paper, options)) as unknown as Repository<Etagged>
  })
  after(() => close?.())

  const make = (id: string) => papers.create({ id, title: 't' })

  it('changes with each write, and is compared by each write', () =>
    inAcme(async () => {
      const made = await make('a')
      expect(made.etag).to.match(/^1-\d+$/)
      expect((await papers.get('a')).etag).to.equal(made.etag)
      expect((await papers.list()).items.map(({ etag }) => etag)).to.deep.equal([made.etag])
      const ifMatch = made.etag
      const updated = await papers.update('a', { title: 'u' }, ['title'], { ifMatch })
      expect(updated.etag).to.not.equal(ifMatch)
      const old = { ifMatch }
      await rejection(papers.update('a', { title: 'v' }, ['title'], old), ErrPreconditionFailed)
      await rejection(papers.delete('a', old), ErrPreconditionFailed)
      await rejection(
        papers.modify('a', () => ({ title: 'w' }), old),
        ErrPreconditionFailed,
      )
      const item = { key: 'a', entity: { title: 'x' }, fieldMask: ['title'] as const, ifMatch }
      await rejection(papers.batchUpdate([item]), ErrPreconditionFailed)
      const [batched] = await papers.batchUpdate([{ ...item, ifMatch: updated.etag }])
      await rejection(papers.update('b', { title: 'v' }, ['title'], old), ErrNotFound)
      await papers.delete('a', { ifMatch: batched?.etag as string })
      await rejection(papers.get('a'), ErrNotFound)
    }))

  it('differs from the etag of a deleted row with the same key', () =>
    inAcme(async () => {
      const { etag: ifMatch } = await make('a')
      await papers.delete('a')
      now = new Date(now.getTime() + 1)
      await make('a')
      await rejection(papers.update('a', { title: 'v' }, ['title'], { ifMatch }), ErrPreconditionFailed)
      await rejection(papers.delete('a', { ifMatch }), ErrPreconditionFailed)
    }))

  it('is of no other form', () =>
    inAcme(async () => {
      const { etag } = await make('a')
      const others = ['', '1', `${etag}0`, `0${etag}`, ` ${etag}`, etag.replace('1-', '1--'), '1-', '\0', 'x']
      for (const ifMatch of others)
        await rejection(papers.update('a', { title: 'v' }, ['title'], { ifMatch }), ErrPreconditionFailed)
      expect((await papers.get('a')).etag).to.equal(etag)
    }))

  it('lets one of several writers win', () =>
    inAcme(async () => {
      const { etag: ifMatch } = await make('a')
      const write = (n: number) => papers.update('a', { title: `${n}` }, ['title'], { ifMatch })
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => write(n)))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
      expect((await papers.get('a')).version).to.equal(2)
    }))

  it("matches rows of TypeORM's manager, whose times are finer", () =>
    inAcme(async () => {
      // TypeORM writes times on SQLite as text in another format, which does not compare.
      if (dataSource === undefined || backend.name.startsWith('sqlite')) return
      const manager = dataSource.getRepository(Paper)
      await manager.insert({ id: 'm', title: 't', accountId: 'acme' })
      const { etag: ifMatch } = await papers.get('m')
      const { etag } = await papers.update('m', { title: 'u' }, ['title'], { ifMatch })
      await manager.save(Object.assign(await manager.findOneByOrFail({ id: 'm' }), { title: 'v' }))
      await rejection(papers.delete('m', { ifMatch: etag }), ErrPreconditionFailed)
      await papers.delete('m', { ifMatch: (await papers.get('m')).etag })
    }))

  it('is in each response, and compared by If-Match over HTTP and gRPC', async () => {
    const opened = await openWithTables(backend, [VersionedEdition])
    const editions =
      opened.dataSource === undefined
        ? new MemoryRepository(VersionedEdition)
        : new TypeormRepository(opened.dataSource, VersionedEdition)
    const running = await startServer((builder) => builder.register(EditionService, editions as never))
    const client = new ForeignClient(EditionService, running.grpc)
    const parent = 'publishers/p/series/s'
    const url = `${running.http}/v1/${parent}/editions`
    const send = async (method: string, path: string, headers = {}, body?: object) => {
      const all = { ...ALICE, 'content-type': 'application/json', ...headers }
      const init = { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const response = await fetch(`${url}${path}`, init)
      const { etag } = (await response.json()) as { etag?: string }
      return { status: response.status, header: response.headers.get('etag'), etag }
    }
    try {
      const made = await send('POST', '?edition_id=a', {}, { title: 't' })
      expect(made.header).to.equal(`"${made.etag}"`)
      expect((await send('GET', '/a')).etag).to.equal(made.etag)
      const patch = (etag: string) =>
        send('PATCH', '/a?update_mask=title', { 'if-match': etag }, { title: 'u' })
      const patched = await patch(`"other", ${made.header}`)
      expect(patched.status).to.equal(200)
      expect((await patch(made.header ?? '')).status).to.equal(412)
      const update = (etag: string | undefined) =>
        client.unary(
          'UpdateEdition',
          { edition: { name: `${parent}/editions/a`, title: 'v', etag }, update_mask: { paths: ['title'] } },
          ALICE,
        )
      expect((await update(made.etag)).code).to.equal(9)
      const { answer } = await update(patched.etag)
      const old = await send('DELETE', '/a', { 'if-match': `"${patched.etag}"` })
      expect(old.status).to.equal(412)
      const current = `"${answer?.['etag'] as string}"`
      expect((await send('DELETE', '/a', { 'if-match': current })).status).to.equal(200)
      expect((await send('POST', '/a:undelete', { 'if-match': current }, {})).status).to.equal(412)
      expect((await send('POST', '/a:undelete', { 'if-match': '*' }, {})).status).to.equal(200)
    } finally {
      client.close()
      await running.stop()
      await opened.close()
    }
  })

  describe('in the repository contract', () => {
    repositoryContract<Etagged>(() => ({
      repository: papers,
      make: (n) => ({ id: `p${n}`, title: `Paper ${n}` }),
      change: { patch: { title: 'Changed' }, mask: ['title'] },
    }))
  })
})

describe('an etag of @VersionColumn() without a create time', () => {
  const declare = (decorate: (prototype: object) => void) => {
    class Leaf {
      @PrimaryColumn({ length: 40 }) id!: string
      @Column({ length: 40 }) title!: string
      @VersionColumn() version!: number
    }
    decorate(Leaf.prototype)
    Entity('versioned_leaves')(Leaf)
    Resource({ message, shared: true, type: 'leaf' })(Leaf)
    return Leaf
  }

  it('is rejected if a key may be used twice', () => {
    expect(() => resourceModel(declare(() => {}))).to.throw(
      DeclarationError,
      'the etag is made of version, so a row that is deleted and created again has the etag of the old row: add @CreateDateColumn()',
    )
  })

  it('is accepted if rows are deleted softly', () => {
    const soft = declare((prototype) => {
      Reflect.metadata('design:type', Date)(prototype, 'deletedAt')
      DeleteDateColumn()(prototype, 'deletedAt')
    })
    expect(resourceModel(soft).versionEtag?.version.property).to.equal('version')
  })

  it('gives way to a property of the class', () => {
    const own = declare((prototype) => {
      Reflect.metadata('design:type', String)(prototype, 'etag')
      Column({ length: 40 })(prototype, 'etag')
    })
    expect(resourceModel(own).versionEtag).to.equal(undefined)
  })
})
