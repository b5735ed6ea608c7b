import { expect } from 'chai'
import { Column, Entity, JoinColumn, OneToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { OperationOptions } from '../../../lib/persistence/contract/repository.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import {
  PolicySchema,
  PolicyService,
  PublisherSchema,
  PublisherService,
} from '../../support/gen/editions_pb.js'
import { rejection } from '../../support/rejection.js'

@Resource({ message: PublisherSchema })
@Entity('publishing_houses')
@TenantScoped()
class Publisher {
  @PrimaryColumn() id!: string
  @Column() title!: string
  accountId!: string
}

/** Its key is a relation, and its table has the name of a field of UpdatePolicyRequest. */
@Resource({ message: PolicySchema })
@Entity('policy')
@TenantScoped()
class Policy {
  @PrimaryColumn() publisherId!: string
  @OneToOne(() => Publisher) @JoinColumn() publisher?: Relation<Publisher>
  @Column() maxPages!: number
  accountId!: string
}

describe('securityCheck of a singleton', function () {
  let dataSource: SqliteDataSource

  before(async () => {
    dataSource = new SqliteDataSource({ database: ':memory:', entities: [Publisher, Policy] })
    await dataSource.initialize()
    await createTables(dataSource, [Publisher, Policy], 'sqlite')
  })
  after(() => dataSource.destroy())

  it('makes its parent first', async () => {
    const { findings } = await securityCheck(
      new ServerBuilder()
        .register(PublisherService, new (repositoryOf(Publisher))(dataSource))
        .register(PolicyService, new (repositoryOf(Policy))(dataSource)),
    )
    expect(findings).to.deep.equal([])
  })

  it('takes the one that Create of its parent makes', async () => {
    const policies = new (repositoryOf(Policy))(dataSource)
    class Publishers extends repositoryOf(Publisher) {
      override create(publisher: Partial<Publisher>, options?: OperationOptions): Promise<Publisher> {
        return this.transaction(async () => {
          const created = await super.create(publisher, options)
          await policies.create({ publisherId: created.id, maxPages: 7 })
          return created
        })
      }
    }
    const { findings, notChecked } = await securityCheck(
      new ServerBuilder()
        .register(PublisherService, new Publishers(dataSource))
        .register(PolicyService, policies),
    )
    expect([findings, notChecked]).to.deep.equal([[], []])
  })

  it('refuses a Date in samples by name', async () => {
    const builder = new ServerBuilder()
      .register(PublisherService, new (repositoryOf(Publisher))(dataSource))
      .register(PolicyService, new (repositoryOf(Policy))(dataSource))
    const samples = { 'editions.v1.Publisher': () => ({ title: new Date() }) }
    await rejection(
      securityCheck(builder, { samples }),
      TypeError,
      /samples of editions\.v1\.Publisher: title is a Date, use timestampFromDate/,
    )
  })

  it('says which one cannot be made, and what to do', async () => {
    const { findings } = await securityCheck(
      new ServerBuilder().register(PolicyService, new (repositoryOf(Policy))(dataSource)),
    )
    const texts = findings
      .filter(({ check }) => check === 'unchecked')
      .map(({ method, text }) => [method, text])
    expect(texts).to.not.deep.equal([])
    for (const [method, text] of texts) {
      expect(method).to.match(/PolicyService/)
      expect(text).to.match(
        /the repository of editions\.v1\.Policy rejects .*give `samples` for editions\.v1\.Policy/,
      )
    }
  })
})
