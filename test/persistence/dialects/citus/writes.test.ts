import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../../lib/context.js'
import { Aborted, ErrPreconditionFailed, InvalidArgument, Unimplemented } from '../../../../lib/errors.js'
import { type SentStatement, watchStatements } from '../../../../lib/persistence/engines/watch-statements.js'
import { filter } from '../../../../lib/persistence/query/filter-template.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant, rejection } from '../../../conformance/repository/subject.js'
import { describeDistributed, opened } from './distributed.js'
import { Country, Coupon, Depot, Parcel, Voucher } from './entities.js'

const ENTITIES = [Country, Depot, Parcel]

describeDistributed('references and events of distributed tables', (open, isCluster) => {
  let close: () => Promise<void>
  let dataSource: DataSource
  let countries: TypeormRepository<Country>
  let depots: TypeormRepository<Depot>
  let parcels: TypeormRepository<Parcel>
  const sent: SentStatement[] = []
  /** The statements of tables and transactions, without the reads of the catalog. */
  const forms = () =>
    sent.flatMap(({ text }) => {
      const [form] =
        /^(?:BEGIN|COMMIT)$|^(?:SELECT|INSERT|UPDATE)(?=.*"(?:countries|depots|parcels)"|.* outbox\b)/.exec(
          text,
        ) ?? []
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

  it('lists shared rows by what refers to them, for one tenant', async () => {
    const list = () => countries.list({ filter: 'depots:*' }, { through: ['depots'] })
    expect((await asTenant('acme', list)).items).to.not.have.length(0)
    expect((await asTenant('nobody', list)).items).to.have.length(0)
    const ofAll = RequestContext.asSystem({ reason: 'test' }, list)
    if (isCluster) await rejection(ofAll, Unimplemented, 'for one tenant')
    else expect((await ofAll).items).to.not.have.length(0)
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

describeDistributed('batches and purges of distributed tables', (open, isCluster) => {
  const EXPIRED = new Date('2026-01-01T00:00:00Z')
  const NOW = new Date('2026-02-01T00:00:00Z')
  let close: () => Promise<void>
  let vouchers: TypeormRepository<Voucher>
  let coupons: TypeormRepository<Coupon>
  const sent: SentStatement[] = []

  before(async () => {
    const on = await opened(open, [Voucher, Coupon])
    close = on.close
    vouchers = new TypeormRepository(on.dataSource, Voucher)
    coupons = new TypeormRepository(on.dataSource, Coupon)
    watchStatements(on.dataSource, (statement) => sent.push(statement))
  })
  beforeEach(async () => {
    for (const tenant of ['acme', 'globex'])
      await asTenant(tenant, async () => {
        for (const id of ['v1', 'v2', 'v3']) {
          await vouchers.create({ id, value: 1, expireTime: id === 'v3' ? NOW : EXPIRED })
          await coupons.create({ id, expireTime: id === 'v3' ? NOW : EXPIRED })
        }
      })
    sent.splice(0)
  })
  afterEach(async () => {
    const all = { before: new Date('2027-01-01T00:00:00Z') }
    await RequestContext.asSystem({ reason: 'test' }, async () => {
      await vouchers.purgeExpired(all.before)
      await coupons.purgeExpired(all.before)
    })
  })
  after(() => close?.())

  /** Each place that names the table compares the tenant with a value. */
  const areRouted = () => {
    const named = sent.filter(({ text }) => text.includes('"vouchers"'))
    expect(named).to.not.have.length(0)
    for (const { text } of named) {
      const tables = text.match(/(?:FROM|UPDATE|INTO) "vouchers"/g) ?? []
      expect(text.match(/"account_id" = \$\d/g) ?? [], text).to.have.length(tables.length)
    }
  }

  it('updates a batch by a statement of one server', async () => {
    const items = ['v1', 'v2'].map((key, i) => ({ key, entity: { value: 10 + i }, fieldMask: ['value'] }))
    const updated = await asTenant('acme', () => vouchers.batchUpdate(items as never))
    expect(updated.map(({ value }) => value)).to.deep.equal([10, 11])
    areRouted()
    expect((await asTenant('globex', () => vouchers.get('v1'))).value).to.equal(1)
  })

  it('deletes a batch by a statement of one server', async () => {
    await asTenant('acme', () => vouchers.batchDelete(['v1', 'v2']))
    areRouted()
    expect(await asTenant('acme', () => vouchers.count())).to.equal(1)
    expect(await asTenant('globex', () => vouchers.count())).to.equal(3)
  })

  it('purges the rows of one tenant on its server', async () => {
    expect(await asTenant('acme', () => vouchers.purgeExpired(EXPIRED))).to.equal(2)
    areRouted()
    expect(await asTenant('globex', () => vouchers.count())).to.equal(3)
  })

  it('purges the rows of all tenants, tenant by tenant', async () => {
    const purge = (rows: TypeormRepository<Voucher> | TypeormRepository<Coupon>) =>
      RequestContext.asSystem({ reason: 'test' }, () => rows.purgeExpired(EXPIRED))
    expect(await purge(vouchers)).to.equal(4)
    expect(await purge(coupons)).to.equal(4)
    for (const tenant of ['acme', 'globex'])
      expect(await asTenant(tenant, () => Promise.all([vouchers.count(), coupons.count()]))).to.deep.equal([
        1, 1,
      ])
  })

  describe('of all tenants at once', () => {
    const asSystem = <T>(call: () => Promise<T>) => RequestContext.asSystem({ reason: 'test' }, call)
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      get: () => vouchers.get('v9'),
      update: () => vouchers.update('v9', { value: 2 }, ['value']),
      modify: () => vouchers.modify('v9', ({ value }) => ({ value: value + 1 })),
      batchGet: () => vouchers.batchGet(['v9']),
      batchUpdate: () =>
        vouchers.batchUpdate([{ key: 'v9', entity: { value: 7 }, fieldMask: ['value'] }] as never),
      batchDelete: () => vouchers.batchDelete(['v9']),
      count: () => vouchers.count(),
      list: () => vouchers.list(),
      'a read that locks': () => vouchers.transaction(() => vouchers.get('v9', { lock: 'update' })),
      updateMany: () => vouchers.updateMany(filter`id = ${'v1'}`, { value: 9 }),
      deleteMany: () => vouchers.deleteMany(filter`id = ${'v1'}`),
      delete: () => vouchers.delete('v9'),
    }
    const rejected: string[] = []

    for (const [name, call] of Object.entries(calls))
      it(`runs or rejects ${name}, and says that it needs a tenant`, async () => {
        await asTenant('acme', () => vouchers.create({ id: 'v9', value: 1, expireTime: EXPIRED }))
        try {
          await asSystem(call)
        } catch (error) {
          expect(error).to.be.instanceOf(Unimplemented)
          rejected.push(name)
        }
      })

    if (isCluster)
      it('rejects what locks rows', () => expect(rejected).to.deep.equal(['updateMany', 'deleteMany']))
  })
})
