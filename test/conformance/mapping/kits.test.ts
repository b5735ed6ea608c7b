import { expect } from 'chai'
import { Column, Entity } from 'typeorm'
import { Internal, ProtoField, Resource } from '../../../decorators/index.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { Authorizer } from '../../../lib/server/authz/authorizer.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { type ContractSubject, repositoryContract, securityCheck } from '../../../lib/testing/index.js'
import { backends, describeOn, type OpenBackend, openWithTables } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { drilling } from '../../support/drill.js'
import { SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'
import { subjectOptions } from '../repository/subject.js'
import { Renamed } from './renamed.js'

/** Its properties are called otherwise than their fields, and TypeORM has one for itself. */
@Resource({ message: SpecimenSchema, type: 'specimen' })
@Entity('specimens')
class Mapped extends Renamed {
  /** What is computed is no subject of the contract. */
  @ProtoField('serial') @Column({ default: '' }) override series!: string
  @Internal() @Column('decimal', { precision: 8, scale: 2, default: 1 }) price!: string
}

/** The kits have tests of their own on each backend. */
const asked = backends.filter(({ name }) => drilling || name === 'memory' || name === 'sqlite')

describeOn('the kits for tests', asked, (backend) => {
  let opened: OpenBackend
  const fresh = (): Repository<Mapped> =>
    opened.dataSource === undefined
      ? new (memoryRepositoryOf(Mapped))(subjectOptions)
      : new (repositoryOf(Mapped))(opened.dataSource, subjectOptions)

  before(async () => {
    opened = await openWithTables(backend, [Mapped])
    if (opened.dataSource !== undefined) await applyBaseline(opened.dataSource)
  })
  after(() => opened?.close())

  describe('take an entity whose properties are called otherwise', () => {
    repositoryContract(async (): Promise<ContractSubject<Mapped>> => {
      await opened.dataSource?.query('DELETE FROM specimens')
      const make = (n: number): Partial<Mapped> => ({ heading: `title ${n}`, mark: `code-${n}` })
      return {
        repository: fresh(),
        make,
        change: { patch: { heading: 'changed', pieces: 7 }, mask: ['title', 'count'] },
      }
    })
  })

  it('finds nothing wrong with its service', async () => {
    await opened.dataSource?.query('DELETE FROM specimens')
    const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }
    const specimens = fresh()
    const builder = new ServerBuilder({ authorizer }).register(SpecimenService, specimens, {
      weighSpecimen: async ({ id }) => specimens.model.toMessage(await specimens.get(id)),
    })
    expect((await securityCheck(builder)).findings).to.deep.equal([])
  })
})
