import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { keyPartOf } from '../../../lib/resource/keys/key-part.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import {
  type Backend,
  type BackendName,
  backends,
  describeOn,
  coalesced,
  type OpenBackend,
  partsOn,
} from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'
import { collated } from '../repository/open-subject.js'
import { type Bill, FEW, type Line, type Org, TENANTED, type Tenanted } from './tenanted.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'

const encryptor = newDev('exactly 32 bytes of development!')

/** The repositories of one type of tenants, whose keys are texts. */
function repositories({ Bill, Line, Org }: Tenanted, { dataSource }: OpenBackend) {
  const database = new MemoryDatabase()
  const on = <E extends object>(entity: EntityClass<E>) =>
    dataSource === undefined
      ? new (memoryRepositoryOf(entity))({ database, encryptor })
      : new (repositoryOf(entity))(dataSource, { encryptor })
  return {
    bills: on(Bill as new () => StoredBill) as never as BillRepository,
    lines: on(Line),
    orgs: Org && on(Org as new () => Org & { id: string }),
    database,
  }
}

type StoredBill = Bill
type BillRepository = InstanceType<ReturnType<typeof repositoryOf<Bill>>>
type Repositories = ReturnType<typeof repositories>

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asSystem = <T>(fn: () => Promise<T>, tenant?: string): Promise<T> =>
  RequestContext.asSystem({ reason: 'test', ...(tenant !== undefined && { tenant }) }, fn)

const SUBJECT = 'tenants of any type'
const MERGERS: readonly BackendName[] = ['sqlite', 'postgres', 'mariadb']

describeOn(SUBJECT, [...backends, ...coalesced], (backend) => {
  const asked = drilling ? TENANTED : TENANTED.slice(0, FEW).filter(isAskedOn(backend))
  const entities = asked.flatMap(({ Bill, Line, Org }) => [Bill, Line, ...(Org === undefined ? [] : [Org])])
  let opened: OpenBackend

  before(async () => {
    opened = await backend.open(entities)
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) return
    await createTables(collated(dataSource, backend), entities, database.dialect.name)
    await applyBaseline(dataSource)
  })
  after(() => opened.close())

  it('creates tables without differences from the model', async () => {
    const { dataSource } = opened
    if (dataSource === undefined || !['postgres', 'mariadb'].includes(backend.name)) return
    expect(await schemaComparison(entities)(liveSchemaOf(dataSource))).to.deep.equal([])
  })

  for (const tenants of asked)
    describe(`of the type ${tenants.name}`, () => {
      const { texts, values, wrong, isInKey } = tenants
      const [ours, theirs] = texts
      let of: Repositories

      beforeEach(async () => {
        const { dataSource } = opened
        of = repositories(tenants, opened)
        const { bills, lines, orgs } = of
        for (const { model } of [lines, bills, ...(orgs === undefined ? [] : [orgs])])
          await dataSource?.query(`DELETE FROM ${model.table}`)
        for (const id of values) await orgs?.create({ id: id as never, title: `org ${String(id)}` })
        for (const [tenant, id] of [
          [ours, 'a'],
          [ours, 'b'],
          [theirs, 'c'],
        ] as const)
          await as(tenant, async () => {
            const made = await bills.create({ id, title: `bill ${id}`, secret: `secret ${id}` })
            expect(made.orgId).to.equal(values[texts.indexOf(tenant)])
            await lines.create({ id: `${id}1`, billId: id })
          })
      })
      afterEach(() => opened.dataSource?.query('DELETE FROM outbox'))

      const ids = async (tenant: string) =>
        as(tenant, async () => (await of.bills.list({ orderBy: 'title' })).items.map(({ id }) => id))

      const rows = () => {
        it('keeps rows apart, each with a tenant of the declared type', async () => {
          const { bills, lines } = of
          expect(await ids(ours)).to.deep.equal(['a', 'b'])
          expect(await ids(theirs)).to.deep.equal(['c'])
          await as(ours, async () => {
            expect(await bills.get('a')).to.include({ id: 'a', orgId: values[0] })
            expect((await bills.list()).items.map(({ orgId }) => orgId)).to.deep.equal([values[0], values[0]])
            expect(await bills.count()).to.equal(2)
            expect(await bills.exists({ filter: 'id = "b"' })).to.equal(true)
            expect((await bills.batchGet(['b', 'a'])).map(({ id }) => id)).to.deep.equal(['b', 'a'])
            await bills.update('a', { title: 'new' }, ['title'])
            await bills.batchUpdate([{ key: 'b', entity: { title: 'newer' }, fieldMask: ['title'] }])
            expect(await bills.modify('a', ({ title }) => ({ title: `${title}!` }))).to.include({
              title: 'new!',
            })
            expect(await bills.get('a', { with: ['lines'] }))
              .to.have.property('lines')
              .with.length(1)
            expect(
              (await lines.list({ filter: 'bill.title = "new!"' }, { through: ['bill'] })).items,
            ).to.have.length(1)
            expect((await bills.lookupBySecretHash(await encryptor.hash('secret b'))).id).to.equal('b')
            expect(await bills.revealSecret('b')).to.equal('secret b')
            await bills.delete('a')
            expect((await lines.list()).items.map(({ id }) => id)).to.deep.equal(['b1'])
            await bills.undelete('a')
            await bills.batchDelete(['a', 'b'])
            expect((await lines.list()).items).to.deep.equal([])
          })
          expect(await ids(theirs)).to.deep.equal(['c'])
        })
      }

      const spellings = () => {
        it('accepts only the canonical format: another reaches and creates no row', async () => {
          const tooLarge = isUnsigned(of) && backend.name.includes('sqlite') ? ['9223372036854775808'] : []
          for (const tenant of [...wrong, ...tooLarge]) await reachesNothing(of, tenant)
          await reachesNothing(of, theirs, ['a', 'b'])
          for (const tenant of wrong.filter(isStorable))
            await asSystem(() => reachesNothing(of, tenant, ['a', 'b', 'c'], true), tenant)
          expect(await ids(ours)).to.deep.equal(['a', 'b'])
          expect(await ids(theirs)).to.deep.equal(['c'])
        })
      }

      const events = () => {
        it('is shown as its text', async () => {
          await as(ours, () => of.bills.delete('a'))
          const { dataSource } = opened
          const told = dataSource
            ? ((await dataSource.query('SELECT account_id FROM outbox')) as { account_id: string }[]).map(
                ({ account_id: text }) => text,
              )
            : [...of.database.outbox.events.values()].map(({ accountId }) => accountId)
          expect(told.sort()).to.deep.equal([ours, ours, ours, theirs].sort())
        })
      }

      const crowds = () => {
        it('serves many tenants at once', async () => {
          const all = Array.from({ length: 60 }, (_, i) => ['a', 'b', 'c'][i % 3] as string)
          const tenantOf = (id: string) => (id === 'c' ? theirs : ours)
          const read = await Promise.all(all.map((id) => as(tenantOf(id), () => of.bills.get(id))))
          expect(read.map(({ id, orgId }) => [id, orgId])).to.deep.equal(
            all.map((id) => [id, values[id === 'c' ? 1 : 0]]),
          )
          const foreign = await Promise.allSettled(
            all.map((id) => as(id === 'c' ? ours : theirs, () => of.bills.get(id))),
          )
          for (const one of foreign) expect(one).to.have.property('reason').that.is.instanceOf(ErrNotFound)
          await Promise.all(
            all.map((id, i) =>
              as(tenantOf(id), () => of.bills.update(id, { title: `${id} ${i}` }, ['title'])),
            ),
          )
          const secrets = await Promise.all(
            all.map(async (id) => {
              const hash = await encryptor.hash(`secret ${id}`)
              return as(tenantOf(id), () => of.bills.lookupBySecretHash(hash))
            }),
          )
          expect(secrets.map(({ id }) => id)).to.deep.equal(all)
          await Promise.all(['a', 'b', 'c'].map((id) => as(tenantOf(id), () => of.bills.delete(id))))
          expect([await ids(ours), await ids(theirs)]).to.deep.equal([[], []])
        })
      }

      const system = () => {
        it('lists all tenants for the system', async () => {
          const { bills } = of
          if (isInKey) await as(theirs, () => bills.create({ id: 'a', title: 'theirs' }))
          const walked: [string, unknown][] = []
          await asSystem(async () => {
            let pageToken = ''
            do {
              const page = await bills.list({ pageSize: 1, pageToken })
              walked.push(...page.items.map(({ id, orgId }): [string, unknown] => [id, orgId]))
              pageToken = page.nextPageToken
            } while (pageToken !== '')
            if (isInKey) await rejection(bills.get('a'), InvalidArgument, 'id')
            expect(await bills.get('b', { with: ['lines'] })).to.have.property('orgId', values[0])
            const all = (await of.lines.list({ with: ['bill'] })).items
            expect(all.map(({ id, bill }) => [id, bill?.orgId])).to.deep.equal([
              ['a1', values[0]],
              ['b1', values[0]],
              ['c1', values[1]],
            ])
            const { rows, rewrapped } = await bills.rewrapSecrets({ batch: 1 })
            expect([rows, rewrapped]).to.deep.equal([3, 3])
          })
          const [first, second] = values
          expect(walked).to.deep.equal([
            ['a', first],
            ...(isInKey ? [['a', second]] : []),
            ['b', first],
            ['c', second],
          ])
          await asSystem(async () => {
            expect((await bills.list()).items.map(({ id }) => id)).to.include('c')
            expect(await bills.get('c')).to.include({ orgId: second })
          }, theirs)
        })
      }

      const purges = () => {
        it('purges one tenant, or all of them for the system', async () => {
          const { bills } = of
          const past = new Date(Date.now() - 60_000)
          for (const tenant of texts)
            await as(tenant, async () => {
              const id = tenant === ours ? 'o' : 't'
              await bills.create({ id, title: id, expireTime: past })
              await of.lines.create({ id: `${id}1`, billId: id })
            })
          const now = new Date()
          expect(await as(ours, () => bills.purgeExpired(now))).to.equal(1)
          expect(await ids(theirs)).to.deep.equal(['c', 't'])
          await as(ours, () => bills.create({ id: 'o', title: 'o', expireTime: past }))
          expect(await asSystem(() => bills.purgeExpired(now))).to.equal(2)
          expect([await ids(ours), await ids(theirs)]).to.deep.equal([['a', 'b'], ['c']])
        })
      }

      const references = () => {
        it('keeps references within the tenant', async () => {
          const { lines, bills, orgs } = of
          await as(ours, async () => {
            await rejection(lines.create({ id: 'x', billId: 'c' }), InvalidArgument, 'bill_id')
            await rejection(lines.update('a1', { billId: 'c' }, ['bill_id']), InvalidArgument, 'bill_id')
            await lines.update('a1', { billId: 'b', nextId: 'b1' }, ['bill_id', 'next_id'])
            await lines.delete('b1')
            expect(await lines.get('a1')).to.include({ billId: 'b', nextId: undefined })
          })
          if (orgs === undefined) return
          await rejection(
            asSystem(() => orgs.delete(values[0] as never)),
            ErrPreconditionFailed,
          )
          expect((await as(ours, () => bills.get('a', { with: ['org'] }))).org).to.include({
            id: values[0],
            title: `org ${ours}`,
          })
          const pages = [
            () => bills.list({ pageSize: 2, with: ['org'] }),
            () => bills.list({ pageSize: 2, with: ['lines', 'org'] }),
          ]
          for (const page of pages) {
            const told = async () => (await page()).items.map(({ id, org }) => [id, org?.title])
            const [own, all] = [await as(ours, told), await asSystem(told)]
            for (const found of [own, all])
              expect(found).to.deep.equal([
                ['a', `org ${ours}`],
                ['b', `org ${ours}`],
              ])
          }
          const refused = await rejection(
            as(nobodyIn(of), () => bills.create({ id: 'z', title: 'z' })),
            ErrPreconditionFailed,
          )
          expect(
            refused.details.flatMap((one) =>
              one.kind === 'preconditionFailure' ? [[one.type, one.subject]] : [],
            ),
          ).to.deep.equal([['TENANT_MISSING', 'org_id']])
          expect(JSON.stringify(refused.details)).not.to.include(nobodyIn(of))
        })
      }

      const parts = { rows, spellings, events, crowds, system, purges, references }
      for (const part of partsOn(backend, SUBJECT, parts)) part()
    })
})

/**
 * In `npm test` the engines that are servers share the types, as those of keys. Where calls share statements,
 * each type meets one engine, in one of the two ways.
 */
function isAskedOn({ name, form, condition }: Backend): (_: Tenanted, index: number) => boolean {
  const place = MERGERS.indexOf(name) * 2 + (condition?.includes('crowds') === true ? 1 : 0)
  if (form === 'coalescing') return (_, index) => index % (MERGERS.length * 2) === place
  const at = ['postgres', 'mariadb', 'mysql8', 'pgbouncer'].indexOf(name)
  return (_, index) => at < 0 || (index + at) % 2 === 0
}

/** SQLite has no column for the upper half of its numbers. */
const isUnsigned = ({ bills }: Repositories): boolean => bills.model.tenant?.kind === 'uint64'

/** A tenant in the type of the resource, which nobody has made. */
const nobodyIn = ({ bills }: Repositories): string =>
  ['nobody', '77', '01980000-0000-7000-8000-0000000000ff'].find(
    (text) => keyPartOf(bills.model.tenant!).valueOf(text) !== undefined,
  ) ?? ''

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** A call of the tenant, and of no other, finds none of the rows. */
async function reachesNothing(
  { bills, lines }: Repositories,
  tenant: string,
  all: readonly string[] = ['a', 'b', 'c'],
  isSystem = false,
): Promise<void> {
  const isText = isStorable(tenant)
  const call = <T>(fn: () => Promise<T>): Promise<T> => (isSystem ? fn() : as(tenant, fn))
  const missing = isText ? ErrNotFound : PermissionDenied
  const told = JSON.stringify(tenant)
  const finds = async (what: string, fn: () => Promise<readonly unknown[]>) => {
    if (isText) expect(await call(fn), `${what} as ${told}`).to.satisfy(isFree(all))
    else await rejection(call(fn), PermissionDenied)
  }
  for (const id of all.slice(0, 1)) {
    await rejection(
      call(() => bills.get(id)),
      missing,
    )
    await rejection(
      call(() => bills.update(id, { title: 'x' }, ['title'])),
      missing,
    )
    await rejection(
      call(() => bills.modify(id, () => ({ title: 'x' }))),
      missing,
    )
    await rejection(
      call(() => bills.delete(id)),
      missing,
    )
    await rejection(
      call(() => bills.undelete(id)),
      missing,
    )
    await rejection(
      call(() => bills.revealSecret(id)),
      missing,
    )
    const hash = await encryptor.hash(`secret ${id}`)
    await rejection(
      call(() => bills.lookupBySecretHash(hash)),
      missing,
    )
    await rejection(
      call(() => lines.update(`${id}1`, { nextId: `${id}1` }, ['next_id'])),
      missing,
    )
  }
  await rejection(
    call(() => bills.batchGet(all)),
    missing,
  )
  await rejection(
    call(() => bills.batchUpdate(all.map((key) => ({ key, entity: { title: 'x' }, fieldMask: ['title'] })))),
    missing,
  )
  await rejection(
    call(() => bills.batchDelete(all)),
    missing,
  )
  await finds('list', async () => (await bills.list({ with: ['lines'] })).items)
  await finds('deleted', async () => (await bills.list({ showDeleted: true })).items)
  await finds('search', async () => (await bills.list({ search: 'bill' })).items)
  await finds('batchGet', () => bills.batchGet(all, { allowMissing: true }))
  await finds('through', async () => {
    const filter = `bill.title : "bill"`
    return (await lines.list({ filter }, { through: ['bill'] })).items
  })
  if (!isText) return
  const isOther = all.length < 3
  expect(await call(() => bills.count())).to.equal(isOther ? 1 : 0)
  expect(await call(() => bills.exists({ filter: `id = "${all[0]}"` }))).to.equal(false)
  expect(await call(() => bills.purgeExpired(new Date()))).to.equal(0)
  // Another text is another tenant, where it fits.
  if (isOther || (typeof bills.model.tenant?.maxLength === 'number' && tenant.length < 40)) return
  await rejection(
    call(() => bills.create({ id: 'new', title: 'new' })),
    PermissionDenied,
  )
  await rejection(
    call(() => lines.create({ id: 'new', billId: 'a' } as Line)),
    PermissionDenied,
  )
}

const isFree = (ids: readonly string[]) => (found: readonly unknown[]) =>
  !(found as readonly { readonly id: string }[]).some(({ id }) => ids.includes(id.slice(0, 1)))
