import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../../lib/context.js'
import { Unavailable, UnknownOutcome } from '../../../../lib/errors.js'
import { filter } from '../../../../lib/persistence/query/filter-template.js'
import { repositoryOf } from '../../../../lib/persistence/repository-of.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant, rejection, subjectOptions } from '../../../conformance/repository/subject.js'
import { sendTo } from '../../../support/databases/citus/cluster.js'
import { describeDistributed, opened } from './distributed.js'
import { Country, Depot, Parcel, Robot, Voucher } from './entities.js'

class RobotRepository extends repositoryOf(Robot) {}

const EXPIRED = new Date('2026-01-01T00:00:00Z')

describeDistributed('a server that refuses connections', (open, isCluster) => {
  if (!isCluster) return
  let close: () => Promise<void>
  let dataSource: DataSource
  let url: string
  let countries: TypeormRepository<Country>
  let depots: TypeormRepository<Depot>
  let parcels: TypeormRepository<Parcel>
  let vouchers: TypeormRepository<Voucher>
  let robots: RobotRepository
  /** Tenants of the server that goes, and of the other one. */
  let gone: string
  let living: string
  let token: string

  before(async () => {
    const server = await open()
    ;({ url } = server)
    ;({ dataSource, close } = await opened(
      () => Promise.resolve(server),
      [Country, Depot, Parcel, Voucher, Robot],
    ))
    countries = new TypeormRepository(dataSource, Country)
    depots = new TypeormRepository(dataSource, Depot)
    parcels = new TypeormRepository(dataSource, Parcel)
    vouchers = new TypeormRepository(dataSource, Voucher)
    robots = new RobotRepository(dataSource, subjectOptions)
    await RequestContext.asSystem({ reason: 'test' }, () => countries.create({ id: 'ch', title: 'ch' }))
    const placed = await sendTo(
      url,
      `SELECT t, nodeport FROM generate_series(1, 20) n, LATERAL (SELECT 'tenant-' || n AS t) x
       JOIN pg_dist_placement p ON shardid = get_shard_id_for_distribution_column('depots', t)
       JOIN pg_dist_node USING (groupid) ORDER BY n`,
    )
    const [first] = placed
    gone = String(first?.[0])
    living = String(placed.find(([, port]) => port !== first?.[1])?.[0])
    for (const tenant of [gone, living])
      await asTenant(tenant, async () => {
        for (const id of ['d1', 'd2', 'd3', 'd4']) await depots.create({ id, countryId: 'ch' })
        for (const id of ['p1', 'p2', 'p3']) await parcels.create({ id, depotId: 'd1' })
        for (const id of ['v1', 'v2', 'v3', 'v4', 'v5', 'v6'])
          await vouchers.create({ id, value: 1, ...(id === 'v1' && { expireTime: EXPIRED }) })
        for (const id of ['r1', 'r2']) token = (await robots.create({ id })).apiKey as string
      })
    // Nothing listens at the port. Connections of before end with their sessions.
    await sendTo(url, `UPDATE pg_dist_node SET nodeport = 1 WHERE nodeport = ${String(first?.[1])}`)
  })
  after(() => close?.())

  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    get: () => depots.get('d1'),
    'list with relations': () => depots.list({ with: ['country'] }),
    'create, with a reference to a shared row': () => depots.create({ id: 'd9', countryId: 'ch' }),
    'create, with a parent and an event': () => parcels.create({ id: 'p9', depotId: 'd1' }),
    'update, with a reference and an event': () => parcels.update('p1', { depotId: 'd2' }, ['depotId']),
    modify: () => vouchers.modify('v2', ({ value }) => ({ value: value + 1 })),
    batchUpdate: () =>
      vouchers.batchUpdate([{ key: 'v2', entity: { value: 7 }, fieldMask: ['value'] }] as never),
    batchDelete: () => vouchers.batchDelete(['v3', 'v4']),
    updateMany: () => vouchers.updateMany(filter`value > ${0}`, { value: 3 }),
    deleteMany: () => vouchers.deleteMany(filter`id = ${'v5'}`),
    purgeExpired: () => vouchers.purgeExpired(EXPIRED),
    'delete, with an event': () => parcels.delete('p2'),
    'delete of what others refer to': () => depots.delete('d4'),
    'soft delete': () => robots.delete('r1'),
    undelete: () => robots.undelete('r1'),
    'create, with a credential': () => robots.create({ id: 'r9' }),
    remint: () => robots.remintApiKey('r1'),
    verify: async () => {
      const { ok } = await RequestContext.asSystem({ reason: 'test' }, () => robots.verifyApiKey(token))
      expect(ok).to.equal(true)
    },
  }
  for (const [name, call] of Object.entries(calls))
    it(`does not stop ${name} of a tenant on another server`, () => asTenant(living, call))

  it('makes writes of its tenants unavailable, and says that nothing was saved', async () => {
    const writes: readonly (() => Promise<unknown>)[] = [
      () => vouchers.create({ id: 'v9', value: 1 }),
      () => depots.create({ id: 'd9', countryId: 'ch' }),
      () => parcels.create({ id: 'p9', depotId: 'd1' }),
    ]
    for (const write of writes) {
      const error = await rejection(asTenant(gone, write), Unavailable)
      expect(error).to.not.be.instanceOf(UnknownOutcome)
    }
  })
})
