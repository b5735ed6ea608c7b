import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { repositoryContract } from '../../../lib/testing/contract/repository-contract.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import {
  backends,
  describeOn,
  coalesced,
  type OpenBackend,
  partsOn,
} from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { COLLATIONS, type Collated, collatedEntities, type Depot, makeCollated } from './collated-entities.js'
import { engineOf } from './existing-entities.js'

const encryptor = newDev('exactly 32 bytes of development!')

/**
 * Texts that are the same to one collation or another: by case, accents, spaces at the end, full width,
 * combining marks, characters that are not seen, and letters that count as two. Each is another tenant, and
 * another key.
 */
const ALIKE = [
  'strasse',
  'STRASSE',
  'Strasse',
  'straße',
  'strasse ',
  'strasse  ',
  'strásse',
  'stra\u0301sse',
  '\uff53trasse',
  'stra\u200bsse',
  'stra\u00adsse',
  'ſtrasse',
]

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asSystem = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.asSystem({ reason: 'test' }, fn)

const PAST = new Date('2020-01-01T00:00:00Z')
const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function repositories({ Depot, Crate, Token }: Collated, { dataSource }: OpenBackend) {
  const database = new MemoryDatabase()
  const on = <E extends object>(entity: EntityClass<E>) =>
    dataSource === undefined
      ? new (memoryRepositoryOf(entity))({ database, encryptor })
      : new (repositoryOf(entity))(dataSource, { encryptor })
  type Depots = InstanceType<ReturnType<typeof repositoryOf<Depot>>> & {
    lookupBySecretHash(hash: Uint8Array | string): Promise<Depot>
    revealSecret(key: string): Promise<string>
  }
  return { depots: on(Depot) as never as Depots, crates: on(Crate), tokens: on(Token) }
}

/** What a call has ended with, where its row was neither there nor missing. */
const isFound = (one: PromiseSettledResult<unknown>): unknown =>
  one.status === 'fulfilled' || (one.reason instanceof ErrNotFound ? false : one.reason)

const SUBJECT = 'texts that a collation takes for the same'

describeOn(SUBJECT, [...backends, ...coalesced], (backend) => {
  const engine = engineOf(backend.name)
  const entities = collatedEntities(COLLATIONS[engine ?? 'sqlite'])
  let opened: OpenBackend
  let dataSource: DataSource | undefined
  let of: ReturnType<typeof repositories>

  before(async () => {
    opened = await backend.open(Object.values(entities))
    ;({ dataSource } = opened)
    await makeCollated(opened, backend, entities)
    if (dataSource !== undefined) await applyBaseline(dataSource)
  })
  after(() => opened.close())
  beforeEach(async () => {
    for (const table of ['crates', 'depots', 'tokens']) await dataSource?.query(`DELETE FROM ${table}`)
    of = repositories(entities, opened)
  })

  /** A depot of each tenant, with a crate. */
  const furnish = async () => {
    for (const [i, tenant] of ALIKE.entries())
      await as(tenant, async () => {
        await of.depots.create({ id: `d${i}`, title: 'depot', owner: tenant, secret: `s${i}` as never })
        await of.crates.create({ id: `c${i}`, depotId: `d${i}`, label: 'crate' })
        await of.tokens.create({ id: `t${i}`, title: 'token', expireTime: PAST })
      })
  }
  /** What the table holds, whoever reads. */
  const stored = () =>
    asSystem(async () => (await of.depots.list({ showDeleted: true })).items.map((one) => ({ ...one })))

  const tenants = () => {
    it('keeps tenants apart: no call reads or writes a row of another tenant', async () => {
      await furnish()
      const rows = await stored()
      expect(rows).to.have.length(ALIKE.length)
      for (const [i, tenant] of ALIKE.entries()) {
        const other = `d${(i + 1) % ALIKE.length}`
        const others = ALIKE.map((_, at) => `d${at}`).filter((id) => id !== `d${i}`)
        await as(tenant, async () => {
          const { depots, crates, tokens } = of
          for (const call of [
            () => depots.get(other),
            () => depots.update(other, { title: 'x' }, ['title']),
            () =>
              depots.update(other, { owner: 'x' }, ['owner'], {
                ifMatch: rows[(i + 1) % ALIKE.length]?.etag ?? '',
              }),
            () => depots.modify(other, () => ({ title: 'x' })),
            () => depots.delete(other),
            () => depots.undelete(other),
            () => depots.revealSecret(other),
            async () => depots.lookupBySecretHash(await encryptor.hash(`s${(i + 1) % ALIKE.length}`)),
            () => depots.batchGet([other]),
            () => depots.batchUpdate([{ key: other, entity: { title: 'x' }, fieldMask: ['title'] }]),
            () => depots.batchDelete(others),
            () => crates.delete(`c${(i + 1) % ALIKE.length}`),
            () => tokens.delete(`t${(i + 1) % ALIKE.length}`),
          ])
            await rejection(call() as Promise<unknown>, ErrNotFound)
          await rejection(crates.create({ id: 'x', depotId: other, label: 'x' }), InvalidArgument, 'depot_id')
          await rejection(
            crates.update(`c${i}`, { depotId: other }, ['depot_id']),
            InvalidArgument,
            'depot_id',
          )
          for (const found of [
            (await depots.list({ showDeleted: true })).items,
            (await depots.list({ search: 'depot' })).items,
            (await depots.list({ filter: 'title = "depot"', orderBy: 'title', with: ['crates'] })).items,
            (await depots.list({ filter: 'crates.label = "crate"' }, { through: ['crates'] })).items,
            await depots.batchGet([...others, `d${i}`], { allowMissing: true }),
          ])
            expect(found.map(({ id }) => id)).to.deep.equal([`d${i}`])
          const [crate, ...more] = (
            await crates.list({ filter: 'depot.title = "depot"', with: ['depot'] }, { through: ['depot'] })
          ).items
          expect([crate?.id, crate?.depot?.accountId, more]).to.deep.equal([`c${i}`, tenant, []])
          expect((await depots.get(`d${i}`, { with: ['crates'] })).crates?.map(({ id }) => id)).to.deep.equal(
            [`c${i}`],
          )
          expect(await depots.count()).to.equal(1)
          expect(await depots.exists({ filter: `id = "${other}"` })).to.equal(false)
        })
      }
      expect(await stored()).to.deep.equal(rows)
    })

    it('deletes, restores and purges only rows of the tenant', async () => {
      await furnish()
      for (const [i, tenant] of ALIKE.entries())
        await as(tenant, async () => {
          expect(await of.tokens.purgeExpired(new Date())).to.equal(1)
          await of.depots.delete(`d${i}`)
          await rejection(of.crates.get(`c${i}`), ErrNotFound)
          const gone = await asSystem(async () => (await of.crates.list()).items)
          expect(gone.map(({ id }) => id).sort()).to.deep.equal(
            ALIKE.map((_, at) => `c${at}`)
              .filter((_, at) => at !== i)
              .sort(),
          )
          await of.depots.undelete(`d${i}`)
          await of.depots.batchDelete([`d${i}`])
          await of.depots.undelete(`d${i}`)
        })
      for (const [i, tenant] of ALIKE.entries())
        await as(tenant, () => of.depots.create({ id: `e${i}`, title: 'e', owner: 'ada', expireTime: PAST }))
      const [first = '', ...rest] = ALIKE
      const expired = async () => (await stored()).filter(({ title }) => title === 'e')
      expect(await as(first, () => of.depots.purgeExpired(new Date()))).to.equal(1)
      expect((await expired()).map(({ accountId }) => accountId).sort()).to.deep.equal([...rest].sort())
      expect(await asSystem(() => of.depots.purgeExpired(new Date()))).to.equal(rest.length)
      expect((await stored()).map(({ id }) => id).sort()).to.deep.equal(ALIKE.map((_, i) => `d${i}`).sort())
    })
  }

  const crowds = () => {
    it('keeps tenants apart under concurrent calls', async () => {
      await furnish()
      const calls = ALIKE.flatMap((tenant, i) => ALIKE.map((_, j) => ({ tenant, own: i === j, j })))
      const settled = await Promise.allSettled(
        calls.map(({ tenant, j }) => as(tenant, () => of.depots.get(`d${j}`))),
      )
      expect(settled.map(isFound)).to.deep.equal(calls.map(({ own }) => own))
      const written = await Promise.allSettled(
        calls.map(({ tenant, j }) =>
          as(tenant, () => of.depots.update(`d${j}`, { title: `by ${tenant}` }, ['title'])),
        ),
      )
      expect(written.map(isFound)).to.deep.equal(calls.map(({ own }) => own))
      const found = await Promise.allSettled(
        calls.map(async ({ tenant, j }) => {
          const hash = await encryptor.hash(`s${j}`)
          return as(tenant, () => of.depots.lookupBySecretHash(hash))
        }),
      )
      expect(found.map(isFound)).to.deep.equal(calls.map(({ own }) => own))
      const made = await Promise.all(
        ALIKE.map((tenant) => as(tenant, () => of.depots.create({ title: 'made', owner: tenant }))),
      )
      expect(made.map(({ accountId }) => accountId)).to.deep.equal(ALIKE)
      const titles = await stored()
      for (const { accountId, title } of titles) expect(['made', `by ${accountId}`]).to.include(title)
    })
  }

  const keys = () => {
    it('keeps keys apart, even if the table can hold only one of them', () =>
      as('acme', async () => {
        const { depots, crates } = of
        const [first = '', ...others] = ALIKE
        const made = await depots.create({ id: first, title: 'first', owner: 'ada', code: first })
        await crates.create({ id: first, depotId: first, label: 'in it' })
        for (const id of others) {
          for (const call of [
            () => depots.get(id),
            () => depots.update(id, { title: 'x' }, ['title']),
            () => depots.delete(id),
            () => depots.batchDelete([first, id]),
          ])
            await rejection(call() as Promise<unknown>, ErrNotFound)
          await rejection(
            crates.create({ id: `${id}x`, depotId: id, label: 'x' }),
            InvalidArgument,
            'depot_id',
          )
          expect(await depots.batchGet([id], { allowMissing: true })).to.deep.equal([])
          expect(await depots.count({ filter: filter`id = ${id} OR code = ${id}` })).to.equal(0)
          expect(await depots.count({}, { where: filter`account_id = ${id}` })).to.equal(0)
          // Another key, or refused without a name and without a trace.
          for (const input of [
            { id, title: 'other', owner: 'ada' },
            { id: `x${id}`, title: 'other', owner: 'ada', code: id },
          ])
            await depots.create(input).then(
              () => depots.delete(input.id),
              (error: unknown) => {
                expect(error).to.be.instanceOf(ErrConflict)
                expect((error as ErrConflict).fields).to.deep.equal([])
              },
            )
        }
        expect(await depots.get(first)).to.deep.equal(made)
        expect(await crates.get(first)).to.include({ depotId: first })
      }))

    it('rejects a key of a tenant with a similar name without revealing the other row', async () => {
      const [first = '', ...others] = ALIKE
      const row = (tenant: string) => ({ id: 'same', title: tenant, owner: tenant, code: 'same' })
      await as(first, () => of.depots.create(row(first)))
      for (const tenant of others)
        await as(tenant, async () => {
          await of.depots.create(row(tenant)).catch((error: unknown) => {
            expect(error).to.be.instanceOf(ErrConflict)
            expect((error as ErrConflict).fields).to.deep.equal([])
            return rejection(of.depots.get('same'), ErrNotFound)
          })
          const { items } = await of.depots.list()
          expect(items.every(({ accountId, title }) => accountId === tenant && title === tenant)).to.equal(
            true,
          )
        })
      expect(await as(first, () => of.depots.get('same'))).to.include({ title: first, accountId: first })
    })

    it('leaves rows that refer to a key in another format', async () => {
      if (dataSource === undefined) return
      await as('acme', async () => {
        await of.depots.create({ id: 'abc', title: 'depot', owner: 'ada' })
        await of.crates.create({ id: 'c', depotId: 'abc', label: 'crate' })
      })
      // As another application may have written it.
      await dataSource.query(
        `INSERT INTO crates (id, account_id, depot_id, label) VALUES ('loose', 'acme', 'ABC', 'crate')`,
      )
      await as('acme', async () => {
        const [depot] = (await of.depots.list({ with: ['crates'] })).items
        expect(depot?.crates?.map(({ id }) => id)).to.deep.equal(['c'])
        expect((await of.crates.get('loose', { with: ['depot'] })).depot).to.equal(undefined)
        expect(
          (await of.crates.list({ filter: 'depot.title = "depot"' }, { through: ['depot'] })).items,
        ).to.have.length(1)
        await of.depots.delete('abc')
        expect((await of.crates.list()).items.map(({ id }) => id)).to.deep.equal(['loose'])
      })
    })
  }

  const pages = () => {
    it('sorts by code point, with each row on one page', () =>
      as('acme', async () => {
        const owners = ['b', 'B', 'a', 'A', 'á', 'ß', 'ss', 'ä', 'a ', 'Z', 'z']
        for (const [i, owner] of owners.entries())
          await of.depots.create({ id: `${owner}${i}`, title: owner, owner })
        const ids = owners.map((owner, i) => `${owner}${i}`)
        const walked = async (orderBy: string, reads: (depot: Depot) => string) => {
          const found: string[] = []
          let pageToken = ''
          do {
            const page = await of.depots.list({ orderBy, pageSize: 2, pageToken })
            found.push(...page.items.map(reads))
            pageToken = page.nextPageToken
          } while (pageToken !== '')
          return found
        }
        expect(await walked('', ({ id }) => id)).to.deep.equal([...ids].sort(byCodePoint))
        expect(await walked('id desc', ({ id }) => id)).to.deep.equal([...ids].sort(byCodePoint).reverse())
        for (const orderBy of ['owner desc', 'title, owner desc', 'code, owner'])
          expect((await walked(orderBy, ({ id }) => id)).sort()).to.deep.equal([...ids].sort())
        expect(await walked('owner', ({ owner }) => owner)).to.deep.equal([...owners].sort(byCodePoint))
      }))

    it('lists all tenants for the system', async () => {
      await furnish()
      const found: (readonly [string, string])[] = []
      let pageToken = ''
      await asSystem(async () => {
        do {
          const page = await of.depots.list({ orderBy: 'title', pageSize: 5, pageToken, with: ['crates'] })
          found.push(...page.items.map(({ id, accountId }) => [id, accountId] as const))
          for (const { id, crates = [] } of page.items)
            expect(crates.map((crate) => crate.id)).to.deep.equal([id.replace('d', 'c')])
          pageToken = page.nextPageToken
        } while (pageToken !== '')
        expect((await of.depots.rewrapSecrets({ batch: 5 })).rows).to.equal(ALIKE.length)
        expect(await of.depots.get('d3')).to.include({ accountId: ALIKE[3] })
      })
      expect(found).to.have.deep.members(ALIKE.map((tenant, i) => [`d${i}`, tenant]))
      const inOrder = [...found].sort(([a], [b]) => byCodePoint(a, b))
      expect(found).to.deep.equal(inOrder)
    })
  }

  const filters = () => {
    it('keeps values apart in filters and row conditions', () =>
      as('acme', async () => {
        const owners = ['bob', 'BOB', 'bob ', 'böb']
        for (const [i, owner] of owners.entries())
          await of.depots.create({ id: `o${i}`, title: `of ${owner}`, owner })
        for (const [i, owner] of owners.entries()) {
          const ids = async (text: ReturnType<typeof filter>) =>
            (await of.depots.list({ filter: text })).items.map(({ id }) => id)
          expect(await ids(filter`owner = ${owner}`)).to.deep.equal([`o${i}`])
          expect(await ids(filter`owner != ${owner}`)).to.have.length(owners.length - 1)
          expect(await ids(filter`NOT owner = ${owner}`)).to.have.length(owners.length - 1)
          expect(await ids(filter`owner : ${owner.slice(1)}`)).to.include(`o${i}`)
          expect(await ids(filter`owner >= ${owner} AND owner <= ${owner}`)).to.deep.equal([`o${i}`])
          const where = filter`owner = ${owner} OR title = "none"`
          expect((await of.depots.list({}, { where })).items.map(({ id }) => id)).to.deep.equal([`o${i}`])
          for (const [j] of owners.entries()) {
            const reached = await of.depots.batchGet([`o${j}`], { where, allowMissing: true })
            expect(reached).to.have.length(i === j ? 1 : 0)
            if (i === j) await of.depots.update(`o${j}`, { title: `of ${owner}` }, ['title'], { where })
            else await rejection(of.depots.update(`o${j}`, { title: 'x' }, ['title'], { where }), ErrNotFound)
          }
        }
        expect(await of.depots.count({ filter: 'owner : "ob"' })).to.equal(2)
      }))
  }

  const statements = () => {
    it('compares exactly in every statement', async () => {
      if (dataSource === undefined || engine === undefined) return
      const told: string[] = []
      const stop = watchStatements(dataSource, ({ text }) => told.push(text))
      await furnish()
      await as(ALIKE[0] as string, async () => {
        const { depots, crates, tokens } = of
        await depots.transaction(async (context) => {
          await depots.get('d0', { context, lock: 'update' })
          await depots.batchGet(['d0'], { context, lock: 'update' })
          await depots.list({ with: ['crates'] }, { context })
        })
        await depots.list({ filter: 'crates.label = "crate"' }, { through: ['crates'] })
        await depots.modify('d0', () => ({ title: 'x' }))
        await depots.batchUpdate([{ key: 'd0', entity: { title: 'y' }, fieldMask: ['title'] }])
        await depots.lookupBySecretHash(await encryptor.hash('s0'))
        await crates.update('c0', { depotId: 'd0' }, ['depot_id'])
        await depots.delete('d0')
        await depots.undelete('d0')
        await crates.batchDelete(['c0'])
        await tokens.batchDelete(['t0'])
        await tokens.purgeExpired(new Date())
        await depots.purgeExpired(new Date())
      })
      await asSystem(async () => {
        await of.depots.get('d1')
        await of.depots.rewrapSecrets({ batch: 5 })
        await of.tokens.purgeExpired(new Date())
      })
      stop()
      const ours = [...new Set(told)].filter((text) => /\b(?:depots|crates|tokens)\b/.test(text))
      expect(ours.length).to.be.greaterThan(25)
      for (const text of ours) expect(inexactIn(text, engine), text).to.deep.equal([])
    })
  }

  const contract = () =>
    describe('keep the contract of repositories', () => {
      repositoryContract<Depot>(() => ({
        repository: repositories(entities, opened).depots,
        make: (n) => ({ id: `d${n}`, title: `depot ${n}`, owner: 'ada' }),
        change: { patch: { title: 'Changed' }, mask: ['title'] },
      }))
    })

  const parts = { tenants, crowds, keys, pages, filters, statements, contract }
  for (const part of partsOn(backend, SUBJECT, parts)) part()
})

/** The comparisons of a column of texts that nothing exact stands beside. */
function inexactIn(text: string, engine: keyof typeof COLLATIONS): readonly string[] {
  const name = '(?:[\\w.]+\\.|["`][^"`]+["`]\\.)*["`](?:id|account_id|depot_id)["`]'
  const exact = {
    postgres: `${name} COLLATE "C"`,
    mysql: `CAST\\(${name} AS BINARY\\)`,
    sqlite: `${name} COLLATE BINARY`,
  }[engine]
  const condition = text.replace(/INSERT INTO[^)]*\)/g, '').replace(/\bSET\b.*?\bWHERE\b/s, 'WHERE')
  const count = (column: string) =>
    [...condition.matchAll(new RegExp(`(?:${column}) (?:=|<>|<|>|IN|= ANY)`, 'g'))].length
  const [bare, sure] = [count(name), count(exact)]
  return bare > sure ? [`${bare} comparisons, of which ${sure} are exact`] : []
}
