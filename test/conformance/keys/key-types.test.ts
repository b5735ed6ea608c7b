import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import {
  type BackendName,
  type Backend,
  backends,
  describeOn,
  coalesced,
  type OpenBackend,
  pooled,
} from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { rejection } from '../../support/rejection.js'
import { type Keyed, KEYED, type Lot, type Part } from './keyed.js'
import { collated } from '../repository/open-subject.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'

type Lots = Repository<Lot, PartValue>
type Parts = Repository<Part, PartValue>

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)

const SHARED: readonly BackendName[] = ['sqlite', 'postgres', 'mariadb', 'mysql8', 'pgbouncer']

describeOn('keys', [...backends, ...pooled, ...coalesced], (backend) => {
  const asked = KEYED.filter(isAskedOn(backend))
  const entities = asked.flatMap(({ Lot, Part }) => [Lot, Part])
  let shared = new MemoryDatabase()
  let hasOutbox = false
  let opened: OpenBackend

  before(async () => {
    opened = await backend.open(entities)
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) return
    await createTables(collated(dataSource, backend), entities, database.dialect.name)
    await applyBaseline(dataSource)
    hasOutbox = true
  })
  after(() => opened.close())

  it('creates tables without differences from the model', async () => {
    const { dataSource } = opened
    if (dataSource === undefined || !['postgres', 'mariadb'].includes(backend.name)) return
    expect(await schemaComparison(entities)(liveSchemaOf(dataSource))).to.deep.equal([])
  })

  for (const { name, keys, missing, wrong, beyond = [], Lot, Part } of asked)
    describe(`of the type ${name}`, () => {
      const [first, second, third] = keys as readonly [PartValue, PartValue, PartValue]
      const { keys: texts } = resourceModel(Lot)
      const made = (key: PartValue) => ({ id: key, title: `lot ${String(key)}` }) as Lot
      let lots: Lots
      let parts: Parts

      beforeEach(async () => {
        const { dataSource } = opened
        shared = new MemoryDatabase()
        const on = <E extends object>(entity: new () => E): unknown =>
          dataSource === undefined
            ? new (memoryRepositoryOf(entity))({ database: shared })
            : new (repositoryOf(entity))(dataSource)
        lots = on(Lot) as Lots
        parts = on(Part) as Parts
        await dataSource?.query(`DELETE FROM ${resourceModel(Part).table}`)
        await dataSource?.query(`DELETE FROM ${resourceModel(Lot).table}`)
        await asAcme(async () => {
          for (const key of [...keys].reverse()) await lots.create(made(key))
        })
      })
      afterEach(async () => {
        if (hasOutbox) await opened.dataSource?.query('DELETE FROM outbox')
      })

      it('reads, lists, pages and filters by the key', () =>
        asAcme(async () => {
          for (const key of keys) {
            expect(await lots.get(key)).to.deep.include(made(key))
            const filter = `id = ${typeof key === 'string' ? JSON.stringify(key) : String(key)}`
            expect((await lots.list({ filter })).items.map(({ id }) => id)).to.deep.equal([key])
          }
          const walked: PartValue[] = []
          let pageToken = ''
          do {
            const page = await lots.list({ pageSize: 1, pageToken })
            walked.push(...page.items.map(({ id }) => id))
            pageToken = page.nextPageToken
          } while (pageToken !== '')
          expect(walked).to.deep.equal(keys)
          const down = (await lots.list({ orderBy: 'id desc', pageSize: 2 })).items.map(({ id }) => id)
          expect(down).to.deep.equal([...keys].reverse().slice(0, 2))
          const byTitle = await lots.list({ orderBy: 'title', pageSize: 1 })
          expect(await lots.list({ orderBy: 'title', pageToken: byTitle.nextPageToken }))
            .to.have.property('items')
            .with.length(keys.length - 1)
        }))

      it('sorts the same in the process and in the database', () => {
        const all = keys.map((key) => texts.given(key) as string)
        expect([...all].reverse().sort(texts.compare)).to.deep.equal(all)
      })

      it('writes by the key, alone and in batches', () =>
        asAcme(async () => {
          const { etag } = await lots.get(second)
          await lots.update(second, { title: 'new' }, ['title'], { ifMatch: etag })
          await rejection(
            lots.update(second, { title: 'x' }, ['title'], { ifMatch: etag }),
            ErrPreconditionFailed,
          )
          const read = await lots.batchGet([third, second, third])
          expect(read.map(({ id }) => id)).to.deep.equal([third, second, third])
          const updated = await lots.batchUpdate(
            [third, first, second].map((key) => ({
              key,
              entity: { title: `batch ${String(key)}` },
              fieldMask: ['title'],
            })),
          )
          expect(updated.map(({ id }) => id)).to.deep.equal([third, first, second])
          await lots
            .batchUpdate([
              { key: first, entity: { title: `batch ${String(second)}` }, fieldMask: ['title'] },
              { key: second, entity: { title: 'free' }, fieldMask: ['title'] },
            ])
            .catch((error: unknown) => expect(error).to.be.instanceOf(ErrConflict))
          await lots.batchDelete([second, first])
          expect((await lots.list()).items.map(({ id }) => id)).to.deep.equal(keys.slice(2))
          await lots.undelete(second)
          await lots.delete(third)
          await rejection(lots.get(third), ErrNotFound)
          await rejection(lots.create(made(second)), ErrConflict)
          await rejection(lots.batchGet([second, third]), ErrNotFound)
        }))

      it('keeps keys of each tenant apart', async () => {
        await as('umbrella', async () => {
          await rejection(lots.get(first), ErrNotFound)
          await lots.create(made(first))
          await lots.update(first, { title: 'theirs' }, ['title'])
        })
        expect(await asAcme(() => lots.get(first))).to.include({ title: `lot ${String(first)}` })
        await rejection(
          RequestContext.asSystem(() => lots.get(first)),
          InvalidArgument,
        )
      })

      it('accepts only the canonical format: another finds and creates no row', () =>
        asAcme(async () => {
          for (const text of wrong) {
            const key = text as PartValue
            await rejection(lots.get(key), ErrNotFound)
            await rejection(lots.update(key, { title: 'x' }, ['title']), ErrNotFound)
            await rejection(
              lots.modify(key, () => ({ title: 'x' })),
              ErrNotFound,
            )
            await rejection(lots.delete(key), ErrNotFound)
            await rejection(lots.undelete(key), ErrNotFound)
            await rejection(lots.batchGet([second, key]), ErrNotFound)
            await rejection(lots.batchDelete([second, key]), ErrNotFound)
            await rejection(
              lots.batchUpdate(
                [second, key].map((one) => ({ key: one, entity: { title: 'x' }, fieldMask: ['title'] })),
              ),
              ErrNotFound,
            )
            expect(await lots.batchGet([second, key], { allowMissing: true })).to.have.length(1)
            if (!TEXTS.has(name) && text !== '')
              await rejection(lots.create({ ...made(second), title: 'x', id: key }), InvalidArgument, 'id')
            if (!TEXTS.has(name))
              await rejection(lots.list({ filter: `id = ${JSON.stringify(text)}` }), InvalidArgument)
            await rejection(parts.create({ id: first, lotId: key } as Part), InvalidArgument, 'lot_id')
          }
          expect((await lots.list()).items).to.have.length(keys.length)
        }))

      it("that the kind has and an engine cannot store are nobody's there", () =>
        asAcme(async () => {
          for (const [at, key] of beyond.entries()) {
            const text = String(key)
            if (backend.name.includes('sqlite')) {
              await rejection(lots.create(made(key)), InvalidArgument, 'id')
              expect((await lots.list({ filter: `id = ${text}` })).items).to.deep.equal([])
            } else {
              await lots.create(made(key))
              await parts.create({ id: keys[at], lotId: key } as Part)
              expect((await lots.list({ filter: `id = ${text}` })).items).to.have.length(1)
              expect(await lots.get(key, { with: ['parts'] }))
                .to.have.property('parts')
                .with.length(1)
              await lots.delete(key)
            }
            await rejection(lots.get(key), ErrNotFound)
            await rejection(lots.update(key, { title: 'x' }, ['title']), ErrNotFound)
            await rejection(lots.delete(key), ErrNotFound)
            await rejection(lots.batchGet([first, key]), ErrNotFound)
            await rejection(lots.batchDelete([first, key]), ErrNotFound)
            const [one, none, two, neither, three] = await Promise.allSettled(
              [first, key, second, key, third].map((wanted) => lots.get(wanted)),
            )
            for (const missed of [none, neither])
              expect(missed).to.have.property('reason').that.is.instanceOf(ErrNotFound)
            const found = [one, two, three].map((read) => read?.status === 'fulfilled' && read.value.id)
            expect(found).to.deep.equal([first, second, third])
            await rejection(parts.create({ id: keys[3], lotId: key } as Part), InvalidArgument, 'lot_id')
          }
        }))

      it('is shown as its text', () =>
        asAcme(async () => {
          await lots.update(second, { title: 'new' }, ['title'])
          await lots.delete(second)
          const told = hasOutbox
            ? (
                (await opened.dataSource?.query('SELECT aggregate_id FROM outbox')) as {
                  readonly aggregate_id: string
                }[]
              ).map(({ aggregate_id: key }) => key)
            : [...shared.outbox.events.values()].map(({ aggregateId }) => aggregateId)
          expect(told.filter((key) => key === texts.given(second))).to.have.length(3)
          expect(told).to.have.length(keys.length + 2)
        }))

      it('accepts many keys at once', () =>
        asAcme(async () => {
          const all = Array.from({ length: 60 }, (_, i) => keys[i % keys.length] as PartValue)
          const read = await Promise.all(all.map((key) => lots.get(key)))
          expect(read.map(({ id }) => id)).to.deep.equal(all)
          await Promise.all(
            all.map((key, i) => lots.update(key, { title: `${String(key)} ${i}` }, ['title'])),
          )
          await Promise.all(keys.map((key) => lots.delete(key)))
          expect((await lots.list()).items).to.deep.equal([])
        }))

      it('deletes, undeletes, unsets and loads through references', () =>
        asAcme(async () => {
          await parts.create({ id: first, lotId: second } as Part)
          await parts.create({ id: second, lot: { id: second }, nextId: first } as Part)
          await parts.create({ id: third, lotId: third, nextId: second } as Part)
          const lot = (await lots.get(second, { with: ['parts'] })) as Lot
          expect(lot.parts?.map(({ id }) => id)).to.deep.equal([first, second])
          const page = await parts.list({ with: ['lot'] } as object)
          expect(page.items.map((part) => part.lot?.id)).to.deep.equal([second, second, third])
          expect(
            (await parts.list({ filter: `lot.title = "lot ${String(third)}"` }, { through: ['lot'] })).items,
          ).to.have.length(1)
          await parts.update(first, { lotId: third }, ['lot_id'])
          await parts.delete(second)
          expect(await parts.get(third)).to.include({ nextId: undefined })
          await lots.delete(third)
          expect((await parts.list()).items).to.deep.equal([])
          await lots.undelete(third)
          expect((await parts.list()).items.map(({ id }) => id)).to.deep.equal([first, third])
          expect((await parts.list({ showDeleted: true })).items).to.have.length(3)
          await rejection(parts.update(first, { lotId: missing }, ['lot_id']), InvalidArgument, 'lot_id')
        }))
    })
})

/**
 * In `npm test` the engines and their forms share the types: each has some, and each type meets several. In
 * memory and in the drill each type is tried.
 */
function isAskedOn({ name, condition, form }: Backend): (_: Keyed, index: number) => boolean {
  const at = SHARED.indexOf(name) + (condition?.includes('crowds') === true ? 3 : 0)
  const every = form === undefined ? 2 : form === 'coalescing' ? 11 : 4
  return ({ isOf }, index) =>
    isOf?.(name) !== false &&
    (drilling || (at < 0 && form === undefined) || (index + at + every) % every === 0)
}

/** Types whose keys are any texts that the column can hold. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'char'])
