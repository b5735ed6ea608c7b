import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { CreateTime, ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { expect } from 'chai'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import type {
  CountOptions,
  ListFilter,
  ListOptions,
  ListScope,
  ReadOptions,
} from '../../../lib/persistence/contract/repository.js'
import { CredentialMinter, newDev } from '../../../lib/secrets/index.js'
import { type Authorizer, ServerBuilder } from '../../../lib/server/index.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { securityCheck, type SecurityReport } from '../../../lib/testing/index.js'
import { openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, coalesced } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { Specimen } from '../../support/entities/specimen.js'
import {
  EditionSchema,
  EditionService,
  PolicyService,
  PublisherService,
} from '../../support/gen/editions_pb.js'
import { Edition, Policy, Publisher } from '../../support/entities/edition.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'

const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }
const served = (specimens: MemoryRepository<Specimen>) =>
  new ServerBuilder({ authorizer }).register(
    SpecimenService,
    specimens as never,
    {
      weighSpecimen: async ({ id }: { id: string }) => specimens.model.toMessage(await specimens.get(id)),
    } as never,
  )

/** It asks for one row after another, which are merged in the same way on each engine. */
const alsoMerged = coalesced.filter(
  ({ name, condition }) => drilling || (name === 'postgres' && condition?.includes('each') === true),
)

describeOn('securityCheck of decisions by row', [...backends, ...alsoMerged], (backend) => {
  it('finds nothing wrong with a repository that applies predicates', async function () {
    const { specimens, close } = await openSubject(backend)
    try {
      const report = await securityCheck(served(specimens as never))
      expect(report.findings).to.deep.equal([])
      const reasons = report.notChecked.filter(({ reason }) => reason.startsWith('row isolation'))
      expect(reasons.map(({ method }) => method.split('/').at(-1))).to.deep.equal(['WeighSpecimen'])
    } finally {
      await close()
    }
  })
})

/** A part of its name refers to something, and is a field of the message as well. */
@Resource({ message: EditionSchema, type: 'edition' })
@Entity('editions')
@TenantScoped()
@SoftDeletable()
class Numbered {
  @PrimaryColumn() id!: string
  @Column() publisherId!: string
  @Column() seriesId!: string
  @ManyToOne(() => Publisher) @JoinColumn({ name: 'series_id' }) series?: Relation<Publisher>
  @Column() title!: string
  @Column() pages!: number
  @ETag() etag!: string
  @CreateTime() createTime!: Date
  accountId!: string
  deleteTime?: Date
}

describe('securityCheck of decisions by row', function () {
  class Editions extends memoryRepositoryOf(Edition) {}
  const library = (editions: Editions, implementation: object = {}) =>
    new ServerBuilder({ authorizer })
      .register(PublisherService, new (memoryRepositoryOf(Publisher))())
      .register(EditionService, editions, implementation)
      .register(PolicyService, new (memoryRepositoryOf(Policy))())
  const byRow = ({ notChecked }: SecurityReport) =>
    notChecked.filter(({ reason }) => reason.startsWith('row isolation')).map(({ method }) => method)

  it('checks resources with names', async () => {
    const report = await securityCheck(library(new Editions()))
    expect(report.findings).to.deep.equal([])
    expect(byRow(report)).to.deep.equal([])
  })

  it('makes up no value for a part of the name', async () => {
    const dataSource = await new SqliteDataSource({
      database: ':memory:',
      entities: [Publisher, Numbered],
    }).initialize()
    try {
      await createTables(dataSource, [Publisher, Numbered], 'sqlite')
      const report = await securityCheck(
        new ServerBuilder({ authorizer })
          .register(PublisherService, new (repositoryOf(Publisher))(dataSource))
          .register(EditionService, new (repositoryOf(Numbered))(dataSource)),
      )
      expect(report.findings).to.deep.equal([])
    } finally {
      await dataSource.destroy()
    }
  })

  it('finds what reads a resource with names as another call', async () => {
    class Leaky extends Editions {
      override async get(key: string, options?: ReadOptions) {
        await super.get(key, options).catch(() => undefined)
        return RequestContext.as(RequestContext.current().principal, () => super.get(key))
      }
    }
    const { findings } = await securityCheck(library(new Leaky()))
    expect([...new Set(findings.map(({ check, method }) => `${check} ${method}`))]).to.deep.equal([
      'isolation /editions.v1.EditionService/GetEdition',
    ])
  })

  it('leaves out a function without support, and finds what fails in any other way', async () => {
    const editions = new Editions()
    const getEdition = async ({ name }: { name: string }, call: ServerCall) =>
      editions.model.toMessage(await editions.get(String(editions.model.name?.parse(name)?.at(-1)), call))
    const report = await securityCheck(library(editions, { getEdition }))
    expect(byRow(report)).to.deep.equal(['/editions.v1.EditionService/GetEdition'])
    class Broken extends Editions {
      override async list(list?: ListOptions<Edition>, options: ListScope = {}) {
        const page = await super.list(list, options)
        if (RequestContext.current().access !== undefined) throw new TypeError('broken')
        return page
      }
      override count(list?: ListFilter, options?: CountOptions) {
        return super.count(list, options)
      }
    }
    const { findings } = await securityCheck(library(new Broken()))
    expect([...new Set(findings.map(({ check, method }) => `${check} ${method}`))]).to.deep.equal([
      'unchecked /editions.v1.EditionService/ListEditions',
    ])
  })

  it('finds what returns more than what was decided', async () => {
    class Leaky extends MemoryRepository<Specimen> {
      override async get(key: string, options?: ReadOptions) {
        await super.get(key, options).catch(() => undefined)
        return RequestContext.as(RequestContext.current().principal, () => super.get(key))
      }
      override async list(list?: ListOptions<Specimen>, options?: ListScope) {
        await super.list(list, options)
        return RequestContext.as(RequestContext.current().principal, () => super.list(list))
      }
    }
    const secrets = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    const { findings } = await securityCheck(served(new Leaky(Specimen, secrets)))
    expect([
      ...new Set(findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)),
    ]).to.deep.equal(['isolation GetSpecimen', 'isolation ListSpecimens'])
  })
})
