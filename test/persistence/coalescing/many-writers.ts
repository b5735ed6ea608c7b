import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, Tags, TenantScoped, UpdateTime } from '../../../decorators/index.js'
import type { SentStatement } from '../../../lib/persistence/engines/watch-statements.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant } from '../../conformance/repository/subject.js'
import type { Backend } from '../../support/databases/backends.js'
import { everyCall, type Asked } from './many-readers.js'
import { WatchedCalls } from './watched-calls.js'

/** What can be written without waiting for another transaction. */
@Resource()
@Entity('parcels')
@TenantScoped()
@SoftDeletable()
export class Parcel {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ nullable: true }) code?: string
  @Column({ type: 'int' }) size!: number
  @Column({ type: 'bigint', nullable: true }) weight?: bigint
  @Column({ type: 'double precision', nullable: true }) ratio?: number
  @Column({ type: 'bytea', nullable: true }) seal?: Uint8Array
  @Tags() tags!: Record<string, string>
  @Column({ nullable: true }) isOpen?: boolean
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}

const ParcelRepository = repositoryOf(Parcel)
export type Parcels = InstanceType<typeof ParcelRepository>

/** Parcels of four tenants with the same keys, and what is sent to write them. */
export class ManyWriters extends WatchedCalls {
  static async open(backend: Backend): Promise<ManyWriters> {
    const { dataSource, close } = await backend.open([Parcel])
    if (dataSource === undefined) throw new TypeError('there is no database')
    await createTables(dataSource, [Parcel], 'postgres')
    return new ManyWriters(dataSource, close)
  }

  /** Every row as it was in the beginning. */
  async reset(): Promise<void> {
    await this.dataSource.query('DELETE FROM parcels')
    const parcels = this.fresh({ coalesce: 'off' })
    await this.each((asked) => parcels.create({ ...first(asked), id: asked.key }))
  }

  fresh(options: RepositoryOptions = {}): Parcels {
    return new ParcelRepository(this.dataSource, options)
  }

  /** A repository that has read the rules of its table; what it has sent for that is forgotten. */
  async warm(options?: RepositoryOptions): Promise<Parcels> {
    const parcels = this.fresh(options)
    await this.warmUp(() => this.each(({ key }) => parcels.get(key)))
    return parcels
  }

  /** Does something for every row at the same time, as its tenant. */
  each<T>(work: (asked: Asked, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.calls(work))
  }

  /** As `each`, failures beside results. */
  all<T>(work: (asked: Asked, index: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
    return Promise.allSettled(this.calls(work))
  }

  calls<T>(work: (asked: Asked, index: number) => Promise<T>): Promise<T>[] {
    return everyCall.map((asked, index) => asTenant(asked.tenant, () => work(asked, index)))
  }

  /** The rows as they are stored, in the order of the calls. */
  stored(): Promise<Parcel[]> {
    const parcels = this.fresh({ coalesce: 'off' })
    return this.each(({ key }) => parcels.get(key))
  }

  get alone(): readonly SentStatement[] {
    return this.sent.filter(({ calls }) => calls === 1)
  }
}

/** What a row holds at first, but its key. */
export const first = ({ tenant, key }: Asked): Partial<Parcel> => ({
  title: `${tenant} ${key}`,
  size: key.length,
  weight: 9_007_199_254_740_993n,
  ratio: 0.1,
  seal: Uint8Array.of(0, 34, 92, 255),
  tags: { 'a"b': '{c,d}', tenant },
  isOpen: true,
})
