import { expect } from 'chai'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { asTenant, inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { run } from '../../support/databases/statement.js'
import { everyCall, TENANTS } from './many-readers.js'
import { first, ManyWriters, type Parcel, type Parcels } from './many-writers.js'

const postgres = databases.filter(({ name }) => name === 'postgres')
const plain = (rows: readonly Parcel[]) => rows.map((row) => ({ ...row }))

describeOn('merged writes', postgres, (backend) => {
  let writers: ManyWriters
  before(async () => {
    writers = await ManyWriters.open(backend)
  })
  beforeEach(() => writers.reset())
  after(() => writers?.close())

  const rename = (parcels: Parcels) =>
    writers.each(({ tenant, key }, i) =>
      parcels.update(key, { title: `${i} of ${tenant}`, size: i }, ['title', 'size']),
    )
  const remove = (parcels: Parcels) => writers.each(({ key }) => parcels.delete(key))
  const create = (parcels: Parcels) =>
    writers.each((asked, i) => parcels.create({ ...first(asked), size: i }))

  describe('that update', () => {
    it('change the row of each of 64 calls of four tenants, in a few statements, and nothing else of it', async () => {
      const parcels = await writers.warm()
      const before = await writers.stored()
      writers.sent = []
      const updated = await rename(parcels)
      expect(writers.sent.length).to.be.lessThan(everyCall.length / 2)
      expect(writers.sent.reduce((sum, { calls }) => sum + calls, 0)).to.equal(everyCall.length)
      const stored = await writers.stored()
      expect(plain(updated)).to.deep.equal(plain(stored))
      expect(plain(stored)).to.deep.equal(
        plain(before).map((row, i) => ({
          ...row,
          title: `${i} of ${row.accountId}`,
          size: i,
          etag: stored[i]?.etag,
          updateTime: stored[i]?.updateTime,
        })),
      )
      expect(new Set(stored.map(({ etag }) => etag)).size).to.equal(everyCall.length)
      for (const [i, { etag }] of before.entries()) expect(stored[i]?.etag).not.to.equal(etag)
    })

    it('write values of every kind, and the lack of one', async () => {
      const parcels = await writers.warm()
      const mask = ['weight', 'ratio', 'seal', 'is_open', 'code'] as const
      await writers.each(({ key }, i) => {
        const some = {
          weight: BigInt(i) - 2n ** 62n,
          ratio: i / 3,
          seal: Uint8Array.of(i, 0, 92),
          tags: { [`${i}`]: 'NULL', '{"\\': '' },
          isOpen: i % 3 === 0,
          code: '\'"\\{},NULL',
        }
        return i % 2 === 0 ? parcels.update(key, some, [...mask, 'tags']) : parcels.update(key, {}, mask)
      })
      expect(writers.together).to.have.length.greaterThan(0)
      for (const [i, row] of (await writers.stored()).entries())
        if (i % 2 === 0)
          expect({ ...row }).to.deep.include({
            weight: BigInt(i) - 2n ** 62n,
            ratio: i / 3,
            seal: Uint8Array.of(i, 0, 92),
            tags: { [`${i}`]: 'NULL', '{"\\': '' },
            isOpen: i % 3 === 0,
            code: '\'"\\{},NULL',
          })
        else expect([row.weight, row.ratio, row.seal, row.isOpen, row.code].join('')).to.equal('')
    })

    it('tell each call alone that its etag is another, its row missing, deleted or of another tenant', async () => {
      const parcels = await writers.warm()
      const before = await writers.stored()
      await asTenant('globex', () =>
        parcels.create({ ...first({ tenant: 'globex', key: 'x' }), id: 'theirs' }),
      )
      await asTenant('acme', () => parcels.delete('k1'))
      writers.sent = []
      const outcomes = await writers.all(({ tenant, key }, i) => {
        if (tenant === 'umbrella') return parcels.update(key, { size: 7 }, ['size'], { ifMatch: 'another' })
        if (tenant === 'initech')
          return parcels.update(key, { size: 7 }, ['size'], { ifMatch: before[i]?.etag as string })
        return parcels.update(key === 'k2' && tenant === 'acme' ? 'theirs' : key, { size: 7 }, ['size'])
      })
      expect(writers.together).to.have.length.greaterThan(0)
      for (const [i, { tenant, key }] of everyCall.entries()) {
        const outcome = outcomes[i] as PromiseSettledResult<Parcel>
        if (tenant === 'umbrella')
          expect(outcome).to.have.property('reason').instanceOf(ErrPreconditionFailed)
        else if (tenant === 'acme' && (key === 'k1' || key === 'k2'))
          expect(outcome).to.have.property('reason').instanceOf(ErrNotFound)
        else expect(outcome).to.have.nested.property('value.size', 7)
      }
      const theirs = await asTenant('globex', () => parcels.get('theirs'))
      expect(theirs.size).to.equal(1)
      const kept = await asTenant('umbrella', () => parcels.get('k3'))
      expect(kept.size).to.equal(2)
    })

    it('change one row for the first of many calls that ask for the same etag, and for all that ask for none', async () => {
      const parcels = await writers.warm()
      await inAcme(async () => {
        const { etag } = await parcels.get('k0')
        const same = Array.from({ length: 30 }, (_, i) =>
          parcels.update('k0', { size: 100 + i }, ['size'], { ifMatch: etag }),
        )
        const others = Array.from({ length: 30 }, (_, i) =>
          parcels.update(`k${1 + (i % 3)}`, { size: i }, ['size']),
        )
        const outcomes = await Promise.allSettled(same)
        const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
        expect(failed).to.have.length(29)
        for (const { reason } of failed) expect(reason).to.be.instanceOf(ErrPreconditionFailed)
        for (const [i, { size }] of (await Promise.all(others)).entries()) expect(size).to.equal(i)
      })
      for (const { values } of writers.together.filter(({ text }) => text.includes('UPDATE'))) {
        const rows = (values[0] as string[]).map((key, i) => `${(values[1] as string[])[i]} ${key}`)
        expect(new Set(rows).size).to.equal(rows.length)
      }
    })

    it('lose no increment, and never mix masks', async () => {
      const parcels = await writers.warm()
      await writers.each(({ key }, i) =>
        i % 2 === 0
          ? parcels.update(key, { size: increment(5) }, ['size'])
          : parcels.update(key, { title: 'x', size: 9 }, i % 4 === 1 ? ['title'] : ['size']),
      )
      for (const [i, { title, size }] of (await writers.stored()).entries()) {
        const { tenant, key } = everyCall[i] as (typeof everyCall)[0]
        const was = [`${tenant} ${key}`, key.length] as const
        const expected = i % 2 === 0 ? [was[0], was[1] + 5] : i % 4 === 1 ? ['x', was[1]] : [was[0], 9]
        expect([title, size]).to.deep.equal(expected)
      }
    })

    it('are alone inside of a transaction', async () => {
      const parcels = await writers.warm()
      await inAcme(() =>
        parcels.transaction(() =>
          Promise.all(Array.from({ length: 16 }, (_, i) => parcels.update(`k${i}`, { size: 3 }, ['size']))),
        ),
      )
      expect(writers.together).to.deep.equal([])
    })
  })

  describe('that create', () => {
    it('make a row of its own for each call, whose key the server has made', async () => {
      const parcels = await writers.warm()
      const created = await create(parcels)
      expect(writers.sent.length).to.be.lessThan(everyCall.length / 2)
      expect(new Set(created.map(({ id }) => id)).size).to.equal(everyCall.length)
      const stored = await Promise.all(
        created.map(({ accountId, id }) => asTenant(accountId, () => parcels.get(id))),
      )
      expect(plain(created)).to.deep.equal(plain(stored))
      for (const [i, row] of created.entries()) {
        const asked = everyCall[i] as (typeof everyCall)[0]
        expect({ ...row }).to.deep.include({ ...first(asked), size: i, accountId: asked.tenant })
      }
    })

    it('are alone with a key that the caller has chosen, or a function of the application', async () => {
      const parcels = await writers.warm()
      await writers.each((asked) => parcels.create({ ...first(asked), id: `chosen-${asked.key}` }))
      let n = 0
      await create(await writers.warm({ newKey: () => `minted-${n++}` }))
      expect(writers.together).to.deep.equal([])
      const again = await writers.all((asked) =>
        parcels.create({ ...first(asked), id: `chosen-${asked.key}` }),
      )
      for (const outcome of again) expect(outcome).to.have.property('reason').instanceOf(ErrConflict)
    })
  })

  describe('that delete', () => {
    it('delete the row of each call, once', async () => {
      const parcels = await writers.warm()
      await remove(parcels)
      expect(writers.sent.length).to.be.lessThan(everyCall.length / 2)
      const left = await writers.all(({ key }) => parcels.get(key))
      for (const outcome of left) expect(outcome).to.have.property('reason').instanceOf(ErrNotFound)
      const again = await writers.all(({ key }) => parcels.delete(key))
      for (const outcome of again) expect(outcome).to.have.property('reason').instanceOf(ErrNotFound)
      const { deleteTime, etag } = await asTenant('acme', () => parcels.undelete('k4'))
      expect([deleteTime, etag.length]).to.deep.equal([undefined, 16])
    })

    it('delete no row with another etag, nor one of another tenant', async () => {
      const parcels = await writers.warm()
      await asTenant('globex', () =>
        parcels.create({ ...first({ tenant: 'globex', key: 'x' }), id: 'theirs' }),
      )
      const outcomes = await writers.all(({ tenant, key }) =>
        tenant === 'acme' ? parcels.delete('theirs') : parcels.delete(key, { ifMatch: 'another' }),
      )
      expect(writers.together).to.have.length.greaterThan(0)
      for (const [i, { tenant }] of everyCall.entries())
        expect(outcomes[i])
          .to.have.property('reason')
          .instanceOf(tenant === 'acme' ? ErrNotFound : ErrPreconditionFailed)
      expect(await writers.stored()).to.have.length(everyCall.length)
      expect((await asTenant('globex', () => parcels.get('theirs'))).id).to.equal('theirs')
    })
  })

  describe('of a table', () => {
    const cases: readonly (readonly [what: string, ddl: string, undo: string, merging: string])[] = [
      [
        'with a unique index beside the key',
        'CREATE UNIQUE INDEX u ON parcels (account_id, code)',
        'DROP INDEX u',
        'update delete',
      ],
      [
        'with a unique index of live rows',
        'CREATE UNIQUE INDEX u ON parcels (account_id, code) WHERE deleted_at IS NULL',
        'DROP INDEX u',
        'update delete',
      ],
      [
        'with a unique index of deleted rows',
        'CREATE UNIQUE INDEX u ON parcels (account_id, code) WHERE deleted_at IS NOT NULL',
        'DROP INDEX u',
        'update',
      ],
      [
        'whose times of deletion are unique',
        'CREATE UNIQUE INDEX u ON parcels (account_id, code, deleted_at)',
        'DROP INDEX u',
        'update',
      ],
      [
        'whose written column is unique',
        'CREATE UNIQUE INDEX u ON parcels (account_id, id, title)',
        'DROP INDEX u',
        'delete',
      ],
      [
        'whose written column is in a unique expression',
        'CREATE UNIQUE INDEX u ON parcels (account_id, id, lower(title))',
        'DROP INDEX u',
        'delete',
      ],
      [
        'whose written column is in the condition of a unique index',
        'CREATE UNIQUE INDEX u ON parcels (account_id, code) WHERE title IS NULL',
        'DROP INDEX u',
        'delete',
      ],
      [
        'whose written column refers to a row',
        'CREATE TABLE titles (title varchar PRIMARY KEY); ALTER TABLE parcels ADD CONSTRAINT f FOREIGN KEY (title) REFERENCES titles NOT VALID',
        'ALTER TABLE parcels DROP CONSTRAINT f; DROP TABLE titles',
        'delete',
      ],
      [
        'whose written column is an array',
        `ALTER TABLE parcels ALTER title TYPE text[] USING ARRAY[title]`,
        'ALTER TABLE parcels ALTER title TYPE text USING title[1]',
        'delete',
      ],
      [
        'with a trigger',
        'CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER g BEFORE INSERT OR UPDATE ON parcels FOR EACH ROW EXECUTE FUNCTION same()',
        'DROP TRIGGER g ON parcels; DROP FUNCTION same',
        '',
      ],
      ['with a rule', 'CREATE RULE r AS ON UPDATE TO parcels DO ALSO NOTHING', 'DROP RULE r ON parcels', ''],
      ['that another one inherits from', 'CREATE TABLE more () INHERITS (parcels)', 'DROP TABLE more', ''],
      [
        'with an index that is not unique, and a check',
        'CREATE INDEX u ON parcels (title); ALTER TABLE parcels ADD CONSTRAINT c CHECK (size >= 0)',
        'DROP INDEX u; ALTER TABLE parcels DROP CONSTRAINT c',
        'create update delete',
      ],
    ]
    for (const [what, ddl, undo, merging] of cases)
      it(`${what} merge: ${merging === '' ? 'none' : merging}`, async () => {
        await writers.dataSource.query(ddl)
        try {
          const parcels = await writers.warm()
          const merged: string[] = []
          for (const [name, work] of Object.entries({ create, update: rename, delete: remove })) {
            writers.sent = []
            await work(parcels).catch(() => {})
            if (writers.together.length > 0) merged.push(name)
          }
          expect(merged.join(' ')).to.equal(merging)
        } finally {
          await writers.dataSource.query('DELETE FROM parcels')
          await writers.dataSource.query(undo)
        }
      })

    it('with row-level security carry calls of one tenant each', async () => {
      await run(writers.database, 'ALTER TABLE parcels ENABLE ROW LEVEL SECURITY')
      try {
        const parcels = await writers.warm()
        for (const work of [create, rename, remove]) await work(parcels)
        expect(writers.together).to.have.length.greaterThan(0)
        for (const { text, values } of writers.together) {
          const tenants = values.filter((one) => TENANTS.includes((one as string[])[0] as string))
          expect(tenants, text).to.have.length(1)
          expect(new Set(tenants[0] as string[]).size).to.equal(1)
        }
      } finally {
        await run(writers.database, 'ALTER TABLE parcels DISABLE ROW LEVEL SECURITY')
      }
    })

    it('cast values to the types of its columns', async () => {
      await writers.dataSource.query(
        'ALTER TABLE parcels ALTER code TYPE uuid USING code::uuid, ALTER title TYPE char(30), ALTER weight TYPE numeric(30)',
      )
      try {
        const parcels = await writers.warm()
        const code = '0193b5c0-7b1e-7000-8000-00000000000a'
        await writers.each(({ key }) => parcels.update(key, { code, title: 'short' }, ['code', 'title']))
        await writers.each((asked) => parcels.create({ ...first(asked), code }))
        for (const word of ['INSERT', 'SET "title"'])
          expect(
            writers.together.filter(({ text }) => text.includes(word)),
            word,
          ).not.to.deep.equal([])
        for (const row of await writers.stored())
          expect([row.code, row.title]).to.deep.equal([code, 'short'.padEnd(30)])
      } finally {
        await writers.dataSource.query(
          'ALTER TABLE parcels ALTER code TYPE text, ALTER title TYPE text, ALTER weight TYPE bigint',
        )
      }
    })

    it('refuse a text that is too long, and cut none', async () => {
      await writers.dataSource.query('ALTER TABLE parcels ALTER title TYPE varchar(20)')
      try {
        const parcels = await writers.warm()
        const outcomes = await writers.all(({ key }, i) =>
          parcels.update(key, { title: i === 20 ? 'x'.repeat(21) : 'short' }, ['title']),
        )
        expect(writers.together).to.have.length.greaterThan(0)
        for (const [i, { status }] of outcomes.entries())
          expect(status).to.equal(i === 20 ? 'rejected' : 'fulfilled')
        const [{ title } = { title: '' }] = (await writers.stored()).slice(20)
        expect(title).to.equal(`${everyCall[20]?.tenant} ${everyCall[20]?.key}`)
      } finally {
        await writers.dataSource.query('ALTER TABLE parcels ALTER title TYPE text')
      }
    })
  })

  describe('merge', () => {
    it("'tenant' has only calls of one tenant in a statement, and 'off' one call", async () => {
      await rename(await writers.warm({ coalesce: 'tenant' }))
      expect(writers.together).to.have.length.greaterThan(0)
      for (const { values } of writers.together) expect(new Set(values[1] as string[]).size).to.equal(1)
      const parcels = writers.fresh({ coalesce: 'off' })
      writers.sent = []
      for (const work of [create, rename, remove]) await work(parcels)
      expect(writers.together).to.deep.equal([])
    })
  })

  it('go on with more masks of callers than are remembered', async () => {
    const parcels = await writers.warm()
    const names = ['title', 'size', 'weight', 'ratio', 'seal', 'tags', 'is_open', 'code'] as const
    await inAcme(async () => {
      for (let mask = 1; mask < 256; mask++) {
        const named = names.filter((_, i) => (mask >> i) % 2 === 1) as [(typeof names)[0]]
        await parcels.update('k0', first({ tenant: 'acme', key: 'k0' }), named)
      }
    })
    writers.sent = []
    await rename(parcels)
    expect(writers.together).to.have.length.greaterThan(0)
  })
})
