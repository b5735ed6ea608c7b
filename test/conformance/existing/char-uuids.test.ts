import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantColumn, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError, ErrNotFound } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { ServerSet } from '../../../lib/resource/new-entity-of.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

const COLLATION = 'utf8mb4_general_ci'
const uuid = { type: 'uuid', collation: COLLATION } as const

@Resource({ existing: true })
@Entity('shelves')
@TenantScoped()
class Shelf {
  @PrimaryColumn(uuid) id!: string
  @Column(uuid) @TenantColumn() orgId!: ServerSet<string>
  @Column({ type: 'varchar', length: 40 }) title!: string
}

@Resource({ existing: true })
@Entity('volumes')
@TenantScoped()
class Volume {
  @PrimaryColumn(uuid) id!: string
  @Column(uuid) @TenantColumn() orgId!: ServerSet<string>
  @Column({ ...uuid, nullable: true }) shelfId?: string
  @ManyToOne(() => Shelf) @JoinColumn() shelf?: Shelf
}

@Resource({ existing: true, shared: true })
@Entity('shelves')
class TextShelf {
  @PrimaryColumn({ type: 'char', length: 36, collation: COLLATION }) id!: string
  @Column({ type: 'varchar', length: 40 }) title!: string
}

const OURS = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
const THEIRS = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e80'
const ID = 'fff9f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
const OTHER = 'fff9f7ea-ae2c-7809-8aeb-b819cf5e9e80'

describeOn(
  'UUIDs in a char(36) that takes cases for the same',
  backends.filter(({ name }) => name === 'mariadb' || name === 'mysql8'),
  (backend) => {
    let close: () => Promise<void>
    let dataSource: DataSource
    const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
      RequestContext.as({ tenant, subject: 'ada' }, fn)

    before(async () => {
      const opened = await backend.open([Shelf, Volume])
      close = opened.close
      dataSource = opened.dataSource as DataSource
      const text = `char(36) COLLATE ${COLLATION}`
      await dataSource.query(
        `CREATE TABLE shelves (id ${text} PRIMARY KEY, org_id ${text} NOT NULL, title varchar(40) NOT NULL)`,
      )
      await dataSource.query(
        `CREATE TABLE volumes (id ${text} PRIMARY KEY, org_id ${text} NOT NULL, shelf_id ${text}, FOREIGN KEY (shelf_id) REFERENCES shelves (id))`,
      )
    })
    after(() => close?.())

    it('serves as key, tenant and reference in one canonical format', async () => {
      const [shelves, volumes] = [
        new (repositoryOf(Shelf))(dataSource),
        new (repositoryOf(Volume))(dataSource),
      ]
      await as(OURS, async () => {
        await shelves.create({ id: ID, title: 'ours' })
        await volumes.create({ id: ID, shelfId: ID })
        expect((await volumes.list({ filter: `shelf_id = "${ID}"` })).items).to.have.length(1)
        expect((await shelves.update(ID, { title: 'changed' }, ['title'])).title).to.equal('changed')
        await rejection(shelves.get(ID.toUpperCase()), ErrNotFound)
      })
      for (const tenant of [THEIRS, OURS.toUpperCase(), `${OURS} `])
        await as(tenant, async () => {
          await rejection(shelves.get(ID), ErrNotFound)
          await rejection(shelves.delete(ID), ErrNotFound)
          expect((await volumes.list()).items).to.deep.equal([])
        })
      await as(THEIRS, () => shelves.create({ id: OTHER, title: 'theirs' }))
      await as(OURS, async () => {
        await rejection(volumes.update(ID, { shelfId: OTHER }, ['shelf_id']), Error)
        await volumes.delete(ID)
        await shelves.delete(ID)
      })
    })

    it('passes verify', async () => {
      const found = await schemaComparison([Shelf, Volume])(liveSchemaOf(dataSource))
      expect(found).to.deep.equal([])
    })

    it('requires a UUID type, because other strings in a char lose trailing spaces', async () => {
      const opened = await backend.open([TextShelf])
      try {
        await opened.dataSource?.query(
          `CREATE TABLE shelves (id char(36) COLLATE ${COLLATION} PRIMARY KEY, title varchar(40) NOT NULL)`,
        )
        const shelves = new (repositoryOf(TextShelf))(opened.dataSource as DataSource)
        const { message } = await rejection(
          RequestContext.as({ subject: 'ada' }, () => shelves.list()),
          DeclarationError,
        )
        expect(message).to.include('id has the type char').and.to.include('use varchar(36)')
      } finally {
        await opened.close()
      }
    })
  },
)
