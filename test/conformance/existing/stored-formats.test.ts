import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import type { Page } from '../../../lib/persistence/contract/repository.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource({ existing: true })
@Entity('jars')
@TenantScoped()
class Jar {
  @PrimaryColumn('uuid') id!: string
  @Column({ length: 40 }) title!: string
  @Column({ type: 'uuid', nullable: true }) nextId?: string
  @ManyToOne(() => Jar) @JoinColumn({ name: 'next_id' }) next?: Jar
  accountId!: string
}

const [A, B, C] = [
  '0189F7EA-AE2C-7809-8AEB-B819CF5E9E7F',
  '0189f7ebae2c78098aebb819cf5e9e7f',
  '0189F7ECAE2C78098AEBB819CF5E9E7F',
] as const
const canonical = (n: 'a' | 'b' | 'c') => `0189f7e${n}-ae2c-7809-8aeb-b819cf5e9e7f`
const ENGINES = backends.filter(({ name }) => ['sqlite', 'mariadb', 'mysql8'].includes(name))

describeOn('UUIDs that another application has stored in other formats', ENGINES, (backend) => {
  let dataSource: DataSource
  let close: () => Promise<void>
  let jars: InstanceType<ReturnType<typeof repositoryOf<Jar>>>
  const inAcme = <T>(fn: () => Promise<T>): Promise<T> =>
    RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

  before(async () => {
    const opened = await backend.open([Jar])
    close = opened.close
    dataSource = opened.dataSource!
    const isSqlite = backend.name === 'sqlite'
    const text = (n: number) => (isSqlite ? 'TEXT' : `varchar(${n}) COLLATE utf8mb4_nopad_bin`)
    await dataSource.query(
      `CREATE TABLE jars (id ${text(36)} PRIMARY KEY, account_id ${text(64)} NOT NULL, title ${text(40)} NOT NULL, next_id ${text(36)})`,
    )
    jars = new (repositoryOf(Jar))(dataSource)
  })
  beforeEach(async () => {
    await dataSource.query('DELETE FROM jars')
    for (const id of [A, B, C])
      await dataSource.query(`INSERT INTO jars VALUES ('${id}', 'acme', 'old', '${id}')`)
  })
  after(() => close())

  it('name their rows in every operation, and no other text does', () =>
    inAcme(async () => {
      for (const id of [A, B, C]) {
        expect(await jars.get(id)).to.include({ id, nextId: id })
        expect(await jars.update(id, { title: 'new' }, ['title'])).to.include({ id, title: 'new' })
      }
      for (const id of ['a', 'b', 'c'] as const) await rejection(jars.get(canonical(id)), ErrNotFound)
      await rejection(jars.get(A.toLowerCase().replace('e', 'E')), ErrNotFound)
      expect((await jars.batchGet([C, A])).map(({ id }) => id)).to.deep.equal([C, A])
      const [renamed] = await jars.batchUpdate([
        { key: B, entity: { title: 'b' }, fieldMask: ['title'] },
      ] as never)
      expect(renamed).to.include({ id: B, title: 'b' })
      await jars.batchDelete([B])
      await jars.delete(A)
      expect((await jars.list()).items.map(({ id }) => id)).to.deep.equal([C])
    }))

  it('are found by filters, page by page, in either column', () =>
    inAcme(async () => {
      for (const field of ['id', 'next_id'])
        expect((await jars.list({ filter: `${field} = "${A}"` })).items.map(({ id }) => id)).to.deep.equal([
          A,
        ])
      for (const orderBy of ['id', 'next_id desc', 'title, next_id']) {
        const found: string[] = []
        for (let pageToken: string | undefined = ''; pageToken !== undefined && found.length < 9;) {
          const page: Page<Jar> = await jars.list({ pageSize: 1, pageToken, orderBy })
          found.push(...page.items.map(({ id }) => id))
          pageToken = page.nextPageToken || undefined
        }
        expect(found).to.have.members([A, B, C])
      }
    }))

  it('are referred to, and are the key of no second row', () =>
    inAcme(async () => {
      const made = await jars.create({ title: 'refers', nextId: A })
      expect(await jars.get(made.id)).to.include({ nextId: A })
      expect(await jars.update(made.id, { nextId: C }, ['next_id'])).to.include({ nextId: C })
      await rejection(jars.create({ title: 'refers', nextId: canonical('a') }), InvalidArgument)
      for (const id of ['a', 'b', 'c'] as const)
        await rejection(jars.create({ id: canonical(id), title: 'twin' } as never), ErrConflict)
      await rejection(jars.create({ id: A.replace('A', 'D'), title: 'other' } as never), InvalidArgument)
      expect(await jars.count()).to.equal(4)
    }))
})
