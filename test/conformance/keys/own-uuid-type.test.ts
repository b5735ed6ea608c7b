import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { backends, describeOn, type OpenBackend, openWithTables } from '../../support/databases/backends.js'

@Resource()
@Entity('own_uuids')
@TenantScoped()
@SoftDeletable()
class OwnUuid {
  @PrimaryColumn('uuid') id!: string
  accountId!: string
  @Column({ type: 'int', nullable: true }) stars?: number
  @ETag() etag!: string
  deleteTime?: Date
}

/** Of versions 1, 4 and 7, and of none, in the order of their texts. MariaDB has another order. */
const TEXTS = [
  '00000000-0000-0000-0000-000000000000',
  '00000000-ffff-1000-8000-000000000002',
  '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f',
  '11111111-0000-1fff-8000-000000000000',
  '11111111-0000-4fff-8000-000000000000',
  '22222222-0000-4000-8000-000000000001',
  'fff9f7ea-ae2c-1809-0aeb-b819cf5e9e7f',
  'fff9f7ea-ae2c-7809-8aeb-b819cf5e9e7f',
  'ffffffff-0000-1000-8000-000000000001',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
] as const

describeOn(
  "a key of MariaDB's own type uuid",
  backends.filter(({ name }) => name === 'mariadb'),
  (backend) => {
    let opened: OpenBackend
    const asAcme = <T>(fn: () => Promise<T>): Promise<T> =>
      RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)
    const uuids = () => new (repositoryOf(OwnUuid))(opened.dataSource as never)

    before(async () => {
      opened = await openWithTables(backend, [OwnUuid])
      await opened.dataSource?.query('ALTER TABLE own_uuids MODIFY id uuid NOT NULL')
      await asAcme(() => Promise.all(TEXTS.map((id) => uuids().create({ id }))))
    })
    after(() => opened?.close())

    it('loses no row in pages sorted as the engine sorts', () =>
      asAcme(async () => {
        const rows = (await opened.dataSource?.query('SELECT id FROM own_uuids ORDER BY id')) as {
          id: string
        }[]
        const all = rows.map(({ id }) => id)
        expect(all)
          .to.have.members([...TEXTS])
          .and.to.not.deep.equal(TEXTS)
        for (const orderBy of ['id', 'id desc', 'stars', 'stars desc, id desc'])
          for (const pageSize of [1, 3]) {
            const walked: string[] = []
            let pageToken = ''
            do {
              const page = await uuids().list({ orderBy, pageSize, pageToken })
              walked.push(...page.items.map(({ id }) => id))
              pageToken = page.nextPageToken
            } while (pageToken !== '')
            const isDown = orderBy.includes('id desc')
            expect(walked, orderBy).to.deep.equal(isDown ? [...all].reverse() : all)
          }
        for (const [at, id] of all.entries()) {
          const behind = await uuids().list({}, { under: filter`id > ${id}` })
          expect(behind.items.map((one) => one.id)).to.deep.equal(all.slice(at + 1))
        }
      }))

    it('finds its row, alone and among many, and in batches of any order', () =>
      asAcme(async () => {
        const read = await Promise.all([...TEXTS, ...TEXTS].map((id) => uuids().get(id)))
        expect(read.map(({ id }) => id)).to.deep.equal([...TEXTS, ...TEXTS])
        const items = (stars: number) =>
          TEXTS.map((key) => ({ key, entity: { stars }, fieldMask: ['stars'] as const }))
        await Promise.all([uuids().batchUpdate(items(1)), uuids().batchUpdate(items(2).reverse())])
        await uuids().batchDelete([...TEXTS].reverse().slice(0, 4))
        expect((await uuids().list()).items).to.have.length(TEXTS.length - 4)
        for (const id of TEXTS.slice(-4)) await uuids().undelete(id)
      }))
  },
)
