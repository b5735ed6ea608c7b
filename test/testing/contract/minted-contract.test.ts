import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm'
import { ETag, Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { type ContractSubject, repositoryContract } from '../../../lib/testing/index.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, type OpenBackend, pooled } from '../../support/databases/backends.js'

@Resource()
@Entity('contract_numbers')
@TenantScoped()
@SoftDeletable()
@Expirable()
class Numbered {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: bigint
  accountId!: string
  @Column({ type: 'int', nullable: true }) stars?: number
  @ETag() etag!: string
  deleteTime?: Date
  expireTime?: Date
}

describeOn('repositoryContract of keys that the database mints', [...backends, ...pooled], (backend) => {
  let opened: OpenBackend
  before(async () => {
    opened = await backend.open([Numbered])
    const { dataSource, database } = opened
    if (dataSource !== undefined && database !== undefined)
      await createTables(collated(dataSource, backend), [Numbered], database.dialect.name)
  })
  after(() => opened?.close())

  repositoryContract(async (): Promise<ContractSubject<Numbered>> => {
    const { dataSource } = opened
    await dataSource?.query('DELETE FROM contract_numbers')
    const repository =
      dataSource === undefined
        ? new (memoryRepositoryOf(Numbered))()
        : new (repositoryOf(Numbered))(dataSource)
    return { repository, make: () => ({}), change: { patch: { stars: 5 }, mask: ['stars'] } }
  })
})
