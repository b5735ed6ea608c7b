import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Emits, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant, rejection } from '../../conformance/repository/subject.js'
import { describeDistributed, opened } from './cluster.js'

/** A row that tenants share, which is deleted softly. */
@Resource({ shared: true })
@SoftDeletable()
@Entity('countries')
class Country {
  @PrimaryColumn() id!: string
  @Column() title!: string
  deleteTime?: Date
}

@Resource()
@Entity('depots')
@TenantScoped()
class Depot {
  @PrimaryColumn() id!: string
  @Column() countryId!: string
  @ManyToOne(() => Country)
  @JoinColumn({ name: 'country_id' })
  country?: Country
  accountId!: string
}

@Resource()
@Entity('parcels')
@TenantScoped()
@Emits()
class Parcel {
  @PrimaryColumn() id!: string
  @Column() depotId!: string
  @ManyToOne(() => Depot)
  @JoinColumn({ name: 'depot_id' })
  depot?: Depot
  accountId!: string
}

const ENTITIES = [Country, Depot, Parcel]

describeDistributed('references and events of distributed tables', (open) => {
  let close: () => Promise<void>
  let dataSource: DataSource
  let countries: TypeormRepository<Country>
  let depots: TypeormRepository<Depot>
  let parcels: TypeormRepository<Parcel>
  const sent: SentStatement[] = []
  /** The statements of tables and transactions, without the reads of the catalog. */
  const forms = () =>
    sent.flatMap(({ text }) => {
      const [form] = /^(?:BEGIN|COMMIT)$|^(?:SELECT|INSERT|UPDATE)(?=.*"(?:countries|depots|parcels)"|.* outbox\b)/.exec(text) ?? []
      return form === undefined ? [] : [text.endsWith(' FOR SHARE') ? `${form} FOR SHARE` : form]
    })

  before(async () => {
    ;({ dataSource, close } = await opened(open, ENTITIES))
    countries = new TypeormRepository(dataSource, Country)
    depots = new TypeormRepository(dataSource, Depot)
    parcels = new TypeormRepository(dataSource, Parcel)
    await RequestContext.asSystem({ reason: 'test' }, async () => {
      for (const id of ['at', 'ch', 'su']) await countries.create({ id, title: id })
      await countries.delete('su')
    })
    await asTenant('acme', () => depots.create({ id: 'd1', countryId: 'ch' }))
    watchStatements(dataSource, (statement) => sent.push(statement))
  })
  beforeEach(() => sent.splice(0))
  after(() => close?.())

  it('reads a shared row without a lock, before the insert and in its transaction', async () => {
    await asTenant('acme', () => depots.create({ id: 'd2', countryId: 'at' }))
    expect(forms()).to.deep.equal(['BEGIN', 'SELECT', 'INSERT', 'COMMIT'])
    expect(sent[1]?.text).to.contain('"countries"')
  })

  it('reads a shared row before an update that refers to it', async () => {
    await asTenant('acme', () => depots.create({ id: 'd3', countryId: 'at' }))
    sent.splice(0)
    await asTenant('acme', () => depots.update('d3', { countryId: 'ch' }, ['countryId']))
    expect(forms()).to.deep.equal(['BEGIN', 'SELECT', 'UPDATE', 'COMMIT'])
  })

  for (const [what, countryId] of [
    ['missing', 'xx'],
    ['deleted', 'su'],
  ] as const)
    it(`rejects a reference to a ${what} shared row`, async () => {
      for (const write of [
        () => depots.create({ id: 'd9', countryId }),
        () => depots.update('d1', { countryId }, ['countryId']),
      ]) {
        await rejection(asTenant('acme', write), InvalidArgument, 'country_id')
      }
      expect((await asTenant('acme', () => depots.get('d1'))).countryId).to.equal('ch')
    })

  it('locks a parent, inserts the row and then its event, each by a statement', async () => {
    await asTenant('acme', () => parcels.create({ id: 'p1', depotId: 'd1' }))
    expect(forms()).to.deep.equal(['BEGIN', 'SELECT FOR SHARE', 'INSERT', 'INSERT', 'COMMIT'])
    const rows: unknown = await dataSource.query(`SELECT aggregate_id FROM outbox WHERE aggregate_id = 'p1'`)
    expect(rows).to.have.length(1)
  })

  it('writes neither row nor event if the parent is missing', async () => {
    const created = asTenant('acme', () => parcels.create({ id: 'p2', depotId: 'xx' }))
    await rejection(created, InvalidArgument)
    const rows: unknown = await dataSource.query(`SELECT aggregate_id FROM outbox WHERE aggregate_id = 'p2'`)
    expect(rows).to.have.length(0)
  })

  it('deletes a shared row, unless a tenant refers to it', async () => {
    const remove = (id: string) => RequestContext.asSystem({ reason: 'test' }, () => countries.delete(id))
    await RequestContext.asSystem({ reason: 'test' }, () => countries.create({ id: 'yu', title: 'yu' }))
    await remove('yu')
    await rejection(remove('ch'), ErrPreconditionFailed)
    expect((await asTenant('acme', () => countries.get('ch'))).id).to.equal('ch')
  })

  it('aborts no create while 16 callers refer to one shared row', async () => {
    const failures: unknown[] = []
    const caller = async (of: number) => {
      for (let i = 0; i < 25; i++)
        await asTenant(`tenant-${of}`, () => depots.create({ id: `d${i}`, countryId: 'ch' })).catch(
          (error: unknown) => failures.push(error),
        )
    }
    await Promise.all(Array.from({ length: 16 }, (_, of) => caller(of)))
    expect(failures.filter((error) => error instanceof Aborted)).to.have.length(0)
    expect(failures).to.deep.equal([])
  })
})
