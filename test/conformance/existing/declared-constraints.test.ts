import 'reflect-metadata'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import {
  Check,
  Column,
  type DataSource,
  DeleteDateColumn,
  Entity,
  Exclusion,
  ForeignKey,
  PrimaryColumn,
  VersionColumn,
} from 'typeorm'
import { Internal, ProtoField, Resource, SoftDeletable } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { refusalOf } from '../../../lib/server/observability/refusal.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

/** No resource. */
@Entity('rooms')
class Room {
  @PrimaryColumn('varchar', { length: 40 }) id!: string
}

/** As TypeORM has made its table. */
@Resource({ shared: true, existing: true })
@Entity('stays')
@SoftDeletable()
@Check('nights > 0')
@Exclusion('USING gist (room_id WITH =)')
@ForeignKey(() => Room, ['roomId'], ['id'])
class Stay {
  @PrimaryColumn('varchar', { length: 40 }) id!: string
  @Column({ type: 'int' }) nights!: number
  @Column({ type: 'varchar', length: 40, nullable: true }) roomId?: string
  @DeleteDateColumn() @ProtoField('delete_time') deletedAt?: Date
  @Internal() @VersionColumn({ default: 1 }) version!: number
}

describeOn('what the table of TypeORM makes sure of', databases, (backend) => {
  let close: () => Promise<void>
  let dataSource: DataSource

  before(async () => {
    const opened = await backend.open([Stay, Room])
    close = opened.close
    dataSource = opened.dataSource as DataSource
    const [text, time] = {
      postgres: ['varchar(40)', 'timestamptz'],
      pgbouncer: ['varchar(40)', 'timestamptz'],
      sqlite: ['varchar(40)', 'datetime'],
      'better-sqlite3': ['varchar(40)', 'datetime'],
      mariadb: ['varchar(40) COLLATE utf8mb4_nopad_bin', 'datetime(6)'],
      mysql8: ['varchar(40) COLLATE utf8mb4_nopad_bin', 'datetime(6)'],
      memory: [],
    }[backend.name] as [string, string]
    // TypeORM's SQLite has made it.
    await dataSource.query('DROP TABLE IF EXISTS rooms')
    await dataSource.query(`CREATE TABLE rooms (id ${text} PRIMARY KEY)`)
    await dataSource.query(
      `CREATE TABLE stays (id ${text} PRIMARY KEY, nights int NOT NULL CHECK (nights > 0), room_id ${text}, deleted_at ${time}, version int NOT NULL DEFAULT 1, FOREIGN KEY (room_id) REFERENCES rooms (id))`,
    )
    await dataSource.query("INSERT INTO rooms VALUES ('r1')")
  })
  after(() => close())

  const asAda = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.as({ subject: 'ada' }, fn)

  it('is left to it, and fails a write of a repository', async () => {
    const stays = new (repositoryOf(Stay))(dataSource)
    await asAda(async () => {
      await stays.create({ id: 'a', nights: 1, roomId: 'r1' })
      const refused = await rejection(stays.create({ id: 'b', nights: 0 }), ErrPreconditionFailed)
      // For the log: the caller is not told how the database is made.
      expect(refusalOf(refused, EmptySchema).database).to.include('nights')
      expect(refused.message).to.not.include('nights')
      await rejection(stays.update('a', { nights: 0 }, ['nights']), ErrPreconditionFailed)
      const missing = await rejection(stays.create({ id: 'b', nights: 1, roomId: 'r2' }), InvalidArgument)
      expect(missing.field).to.equal('room_id')
    })
    if (backend.name === 'postgres' || backend.name === 'mariadb')
      expect(await schemaComparison([Stay])(liveSchemaOf(dataSource))).to.deep.equal([])
  })

  it('is deleted softly by repositories and by the manager of TypeORM', async () => {
    const stays = new (repositoryOf(Stay))(dataSource)
    await asAda(async () => {
      await stays.create({ id: 'c', nights: 1 })
      await stays.create({ id: 'd', nights: 1 })
      await stays.delete('c')
      expect(await dataSource.manager.findOneBy(Stay, { id: 'c' })).to.equal(null)
      await dataSource.manager.softDelete(Stay, { id: 'd' })
      await rejection(stays.get('d'), ErrNotFound)
      expect((await stays.undelete('d')).nights).to.equal(1)
      expect(await dataSource.manager.findOneBy(Stay, { id: 'd' })).to.include({ nights: 1, version: 2 })
    })
  })
})
