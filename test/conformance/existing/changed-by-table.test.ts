import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, coalesced } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { rejection } from '../../support/rejection.js'
import { engineOf, QuietShift, Shift, SHIFTS } from './existing-entities.js'

const asAcme = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

const NEVER_SET = new Date('2001-01-01T00:00:00Z')

describeOn('what a table changes by itself', [...databases, ...coalesced], (backend) => {
  let close: () => Promise<void>
  let dataSource: DataSource
  let shifts: InstanceType<ReturnType<typeof repositoryOf<Shift>>>
  let quiet: InstanceType<ReturnType<typeof repositoryOf<QuietShift>>>

  before(async () => {
    const opened = await backend.open([Shift, QuietShift])
    close = opened.close
    dataSource = opened.dataSource as DataSource
    for (const text of SHIFTS[engineOf(backend.name) ?? 'sqlite']) await dataSource.query(text)
    await applyBaseline(dataSource)
    shifts = new (repositoryOf(Shift))(dataSource)
    quiet = new (repositoryOf(QuietShift))(dataSource)
  })
  after(() => close())

  /** What the events in the outbox say of their resources, in the order of the writes. */
  const told = async (): Promise<Record<string, unknown>[]> => {
    const rows = await dataSource.query<{ payload: string | Buffer }[]>(
      'SELECT payload FROM outbox ORDER BY id',
    )
    return rows.map(({ payload }) => {
      const { data } = JSON.parse(payload.toString()) as { data: { resource: Record<string, unknown> } }
      return data.resource
    })
  }

  it('is in the answer of every write, and in every read', () =>
    asAcme(async () => {
      const made = await shifts.create({ id: 1, title: 'Night', updatedAt: NEVER_SET, slug: 'x' })
      expect(made).to.include({ slug: 'night', revision: 1 })
      expect(made.updatedAt.getTime()).to.be.greaterThan(NEVER_SET.getTime())
      expect(await shifts.get(1)).to.deep.equal(made)
      const renamed = await shifts.update(1, { title: 'Late' }, ['title'], { ifMatch: made.etag })
      expect(renamed).to.include({ slug: 'late', revision: 2 })
      expect(renamed.etag).not.to.equal(made.etag)
      expect(await shifts.get(1)).to.deep.equal(renamed)
      const whole = await shifts.update(1, { ...renamed, title: 'Day', revision: 99, slug: 'y' })
      expect(whole).to.include({ slug: 'day', revision: 3 })
      const modified = await shifts.modify(1, ({ title }) => ({ title: title.replace('Day', 'Dusk') }))
      expect(modified).to.include({ slug: 'dusk', revision: 4 })
      await shifts.delete(1)
      const back = await shifts.undelete(1)
      expect(back).to.include({ slug: 'dusk', revision: 6 })
      expect(await shifts.get(1)).to.deep.equal(back)
      const { items } = await shifts.list({
        filter: 'slug = "dusk" AND revision = 6',
        orderBy: 'revision desc',
      })
      expect(items).to.deep.equal([back])
    }))

  it('is in the answer of a batch', () =>
    asAcme(async () => {
      for (const id of [11, 12]) await shifts.create({ id, title: `Batch ${id}` })
      const updated = await shifts.batchUpdate([
        { key: 11, entity: { title: 'Eleven' }, fieldMask: ['title'] },
        { key: 12, entity: { title: 'Twelve' }, fieldMask: ['title'] },
      ])
      expect(updated.map(({ slug, revision }) => [slug, revision])).to.deep.equal([
        ['eleven', 2],
        ['twelve', 2],
      ])
      expect(await shifts.batchGet([11, 12])).to.deep.equal(updated)
    }))

  it('is in the answer of many writes at once', () =>
    asAcme(async () => {
      const ids = Array.from({ length: 12 }, (_, i) => 100 + i)
      const made = await Promise.all(ids.map((id) => quiet.create({ id, title: `Many ${id}` })))
      expect(made.map(({ slug, revision }) => [slug, revision])).to.deep.equal(
        ids.map((id) => [`many ${id}`, 1]),
      )
      const updated = await Promise.all(ids.map((id) => quiet.update(id, { title: `MORE ${id}` }, ['title'])))
      expect(updated.map(({ slug, revision }) => [slug, revision])).to.deep.equal(
        ids.map((id) => [`more ${id}`, 2]),
      )
      expect(await Promise.all(ids.map((id) => quiet.get(id)))).to.deep.equal(updated)
    }))

  it('is in the event of the write', () =>
    asAcme(async () => {
      await dataSource.query('DELETE FROM outbox')
      await shifts.create({ id: 21, title: 'Told' })
      await shifts.update(21, { title: 'TOLD AGAIN' }, ['title'])
      await shifts.delete(21)
      const found = await told()
      expect(found.map(({ slug, revision }) => `${String(slug)} ${String(revision)}`).sort()).to.deep.equal([
        'told 1',
        'told again 2',
        'told again 3',
      ])
    }))

  it('is undone with its transaction', () =>
    asAcme(async () => {
      await shifts.create({ id: 31, title: 'Kept' })
      await rejection(
        transaction(dataSource, async () => {
          expect(await shifts.update(31, { title: 'LOST' }, ['title'])).to.include({
            slug: 'lost',
            revision: 2,
          })
          throw new RangeError('undo')
        }),
        RangeError,
      )
      expect(await shifts.get(31)).to.include({ slug: 'kept', revision: 1 })
    }))

  it('is written by nobody', () =>
    asAcme(async () => {
      await shifts.create({ id: 41, title: 'Own' })
      for (const name of ['slug', 'revision', 'updated_at']) {
        const write = shifts.update(41, { revision: 7 }, [name as 'revision'], { outputOnly: true } as never)
        await rejection(write, InvalidArgument)
      }
      expect(await shifts.get(41)).to.include({ slug: 'own', revision: 1 })
    }))

  it('leaves the names of fields out of a conflict on an index without the tenant', () =>
    RequestContext.as({ tenant: 'other', subject: 'eve' }, async () => {
      await shifts.create({ id: 51, title: 'Mine', code: 'one' })
      const taken = await rejection(
        asAcme(() => shifts.create({ id: 52, title: 'Theirs', code: 'one' })),
        ErrConflict,
      )
      expect(taken.fields).to.deep.equal([])
      const key = await rejection(
        asAcme(() => shifts.create({ id: 51, title: 'Key' })),
        ErrConflict,
      )
      expect(key.fields).to.deep.equal([])
    }))

  it('leaves a row without a tenant to nobody', async () => {
    await dataSource.query(
      `INSERT INTO shifts (id, account_id, title, code) VALUES (61, NULL, 'Nobody', 'n')`,
    )
    const reach = async () => {
      await rejection(shifts.get(61), ErrNotFound)
      expect(await shifts.batchGet([61], { allowMissing: true })).to.deep.equal([])
      await rejection(shifts.update(61, { title: 'Taken' }, ['title']), ErrNotFound)
      await rejection(shifts.delete(61), ErrNotFound)
      const filter = 'title = "Nobody"'
      expect((await shifts.list({ filter })).items).to.deep.equal([])
      expect(await shifts.count({ filter })).to.equal(0)
    }
    await RequestContext.asSystem(reach)
    await asAcme(reach)
    expect(
      (await dataSource.query<{ title: string }[]>('SELECT title FROM shifts WHERE id = 61'))[0],
    ).to.deep.equal({ title: 'Nobody' })
  })
})

describe('what a table changes by itself, in memory', () => {
  it('is refused by name', () => {
    expect(() => new (memoryRepositoryOf(Shift))()).to.throw(
      /slug is declared as generated, but memory has no table that sets it.*revision.*updatedAt/s,
    )
  })
})
