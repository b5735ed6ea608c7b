import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, Internal } from '../../../lib/errors.js'
import type { Result } from '../../../lib/persistence/engines/executor/executor.js'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { type OpenSubject, openSubject } from '../../conformance/repository/open-subject.js'
import { asTenant, draft, encryptor, inAcme } from '../../conformance/repository/subject.js'
import { describeOn, coalesced, mergers } from '../../support/databases/backends.js'
import { run } from '../../support/databases/statement.js'
import { rejection } from '../../support/rejection.js'
import { everyCall, KEYS, ManyReaders, TENANTS, tenantsIn } from './many-readers.js'

type Change = Parameters<ManyReaders['changed']>[0]

/** Changes what statements of several calls return. */
const tampered = (
  readers: ManyReaders,
  change: (result: Result) => Result,
  fn: () => Promise<void>,
): Promise<void> =>
  readers.changed(
    (send) => async (statement, values, options) => {
      const result = await send(statement, values, options)
      return (options?.calls ?? 1) > 1 ? change(result) : result
    },
    fn,
  )

describeOn('merged reads', mergers, (backend) => {
  let readers: ManyReaders
  before(async () => {
    readers = await ManyReaders.open(backend)
  })
  after(() => readers?.close())

  it('return its own row to each of 64 calls of four tenants, in a few statements', async () => {
    const specimens = await readers.warm()
    const rows = await readers.getAll(specimens)
    expect(rows.map(({ accountId, id, title }) => [accountId, id, title])).to.deep.equal(
      everyCall.map(({ tenant, key }) => [tenant, key, `${tenant} ${key}`]),
    )
    expect(readers.sent.length).to.be.lessThan(everyCall.length / 2)
    expect(readers.sent.reduce((sum, { calls }) => sum + calls, 0)).to.equal(everyCall.length)
    expect(Math.max(...readers.sent.map(({ calls }) => calls))).to.be.greaterThan(20)
  })

  it('return the same as lone calls, every field of it', async () => {
    const specimens = await readers.warm()
    const rows = await readers.getAll(specimens)
    expect(readers.together).to.have.length.greaterThan(0)
    for (const [i, { tenant, key }] of everyCall.entries())
      expect(rows[i]).to.deep.equal(await asTenant(tenant, () => specimens.get(key)))
  })

  it('give each of several calls for one key an entity of its own', async () => {
    const specimens = await readers.warm()
    const rows = await inAcme(() => Promise.all(Array.from({ length: 40 }, () => specimens.get('k1'))))
    expect(readers.together).to.have.length.greaterThan(0)
    expect(new Set(rows).size).to.equal(40)
  })

  it("answer a missing key, a deleted row and another tenant's row with ErrNotFound, each alone", async () => {
    const specimens = await readers.warm()
    await asTenant('globex', () => specimens.create(draft({ id: 'theirs' })))
    await inAcme(() => specimens.create(draft({ id: 'deleted' })))
    await inAcme(() => specimens.delete('deleted'))
    const longest = 'y'.repeat(191)
    await inAcme(() => specimens.create(draft({ id: longest })))
    const missing = [
      `${longest}y`,
      'k'.repeat(5000),
      'theirs',
      'deleted',
      'none',
      "'; DROP TABLE specimens --",
      '{"a",b}',
      'NULL',
      '\\',
    ]
    const outcomes = await inAcme(() =>
      Promise.allSettled([...KEYS, ...missing].map((key) => specimens.get(key))),
    )
    expect(readers.together).to.have.length.greaterThan(0)
    for (const [i, outcome] of outcomes.entries())
      if (i < KEYS.length) expect(outcome).to.have.nested.property('value.id', KEYS[i])
      else expect(outcome).to.have.property('reason').that.is.instanceOf(ErrNotFound)
  })

  it('look up secrets of the tenant alone', async () => {
    const specimens = await readers.warm()
    const lookUp = () =>
      Promise.all(
        everyCall.map(({ tenant, key }) =>
          asTenant(tenant, async () => specimens.lookupByWebhookSecretHash(await encryptor.hash(`s ${key}`))),
        ),
      )
    const rows = await lookUp()
    expect(rows.map(({ accountId, id }) => [accountId, id])).to.deep.equal(
      everyCall.map(({ tenant, key }) => [tenant, key]),
    )
    expect(readers.together).to.have.length.greaterThan(0)
  })

  it('verify credentials over all tenants, each by its own token', async () => {
    const specimens = await readers.warm()
    const tokens = await Promise.all(
      everyCall.map(({ tenant, key }) => asTenant(tenant, () => specimens.remintApiKey(key))),
    )
    readers.sent = []
    const [wrong] = [`${tokens[0]!.slice(0, -6)}AAAAAA`]
    const results = await Promise.all([...tokens, wrong].map((token) => specimens.verifyApiKey(token)))
    expect(results.pop()).to.deep.equal({ ok: false, record: undefined })
    expect(results.map(({ record }) => [record?.accountId, record?.id])).to.deep.equal(
      everyCall.map(({ tenant, key }) => [tenant, key]),
    )
    expect(readers.together).to.have.length.greaterThan(0)
  })

  it('leave alone what is inside of a transaction, locked, narrowed by where, or of the system', async () => {
    const specimens = await readers.warm()
    const times = <T>(fn: () => Promise<T>) => Promise.all(Array.from({ length: 40 }, fn))
    await inAcme(async () => {
      await specimens.transaction(() => times(() => specimens.get('k1')))
      await specimens.transaction(() => times(() => specimens.get('k1', { lock: 'share' })))
      await times(() => specimens.get('k1', { where: filter`title = ${'acme k1'}` }))
    })
    await RequestContext.asSystem(() => times(() => rejection(specimens.get('k1'), Error)))
    expect(readers.together).to.deep.equal([])
  })

  describe('a fault of the position', () => {
    const faults: Readonly<Record<string, (result: Result) => Result>> = {
      'rows that changed places': (result) => {
        const positions = result.rows.map(([position]) => position)
        positions.push(positions.shift())
        return { ...result, rows: result.rows.map((row, i) => [positions[i], ...row.slice(1)]) }
      },
      'a row that comes twice': (result) => ({ ...result, rows: [...result.rows, result.rows[0]!] }),
      'a position that no call has': (result) => ({
        ...result,
        rows: result.rows.map((row, i) => (i === 0 ? ['999', ...row.slice(1)] : row)),
      }),
      'a position that is not a number': (result) => ({
        ...result,
        rows: result.rows.map((row, i) => (i === 0 ? [null, ...row.slice(1)] : row)),
      }),
    }
    for (const [name, change] of Object.entries(faults))
      it(`is Internal to every call of the statement: ${name}`, async () => {
        const specimens = await readers.warm()
        await tampered(readers, change, async () => {
          const outcomes = await Promise.allSettled(everyCall.map((asked) => readers.get(specimens, asked)))
          const failed = outcomes.filter(({ status }) => status === 'rejected')
          expect(failed).to.have.length(readers.together.reduce((sum, { calls }) => sum + calls, 0))
          expect(failed).to.have.length.greaterThan(20)
          for (const outcome of failed) expect(outcome).to.have.property('reason').instanceOf(Internal)
        })
      })

    it('is caught by the tenant alone, when the keys are the same', async () => {
      const specimens = await readers.warm()
      const swap = (result: Result) => ({
        ...result,
        rows: result.rows.map((row, i, all) => [all[all.length - 1 - i]![0], ...row.slice(1)]),
      })
      await tampered(readers, swap, async () => {
        const calls = Array.from({ length: 40 }, (_, i) => TENANTS[i % 4] as string)
        const outcomes = await Promise.allSettled(
          calls.map((tenant) => asTenant(tenant, () => specimens.get('k1'))),
        )
        expect(readers.together).to.have.length.greaterThan(0)
        for (const [i, outcome] of outcomes.entries())
          if (outcome.status === 'fulfilled') expect(outcome.value.accountId).to.equal(calls[i])
          else expect(outcome.reason).to.be.instanceOf(Internal)
        expect(outcomes.filter(({ status }) => status === 'rejected')).to.have.length.greaterThan(20)
      })
    })
  })

  describe('merge', () => {
    it('is all by default: one statement has calls of several tenants', async () => {
      await readers.getAll(await readers.warm())
      const counts = readers.together.map((statement) => tenantsIn(statement).size)
      expect(Math.max(...counts)).to.be.greaterThan(1)
    })

    it("'tenant' has only calls of one tenant in a statement", async () => {
      await readers.getAll(await readers.warm('tenant'))
      expect(readers.together).to.have.length.greaterThan(0)
      for (const statement of readers.together) expect(tenantsIn(statement).size).to.equal(1)
    })

    it("'off' has one call in each statement", async () => {
      await readers.getAll(await readers.warm('off'))
      expect(readers.sent.map(({ calls }) => calls)).to.deep.equal(everyCall.map(() => 1))
    })

    it('is what the DataSource says, where the repository says nothing', async () => {
      Object.assign(readers.dataSource.options, { coalesce: 'off' })
      try {
        await readers.getAll(await readers.warm())
        expect(readers.together).to.deep.equal([])
        await readers.getAll(await readers.warm('all'))
        expect(readers.together).to.have.length.greaterThan(0)
      } finally {
        Object.assign(readers.dataSource.options, { coalesce: undefined })
      }
    })

    it('is a TypeError with another value', () => {
      expect(() => readers.fresh('always' as never)).to.throw(TypeError, "coalesce: 'always'")
    })
  })

  if (backend.name === 'postgres')
    it('have only calls of one tenant where the table has row-level security', async () => {
      await run(readers.database, 'ALTER TABLE specimens ENABLE ROW LEVEL SECURITY')
      try {
        await readers.getAll(await readers.warm())
        expect(readers.together).to.have.length.greaterThan(0)
        for (const statement of readers.together) expect(tenantsIn(statement).size).to.equal(1)
      } finally {
        await run(readers.database, 'ALTER TABLE specimens DISABLE ROW LEVEL SECURITY')
      }
    })

  it('have none where a view stands for the table', async () => {
    await run(readers.database, 'ALTER TABLE specimens RENAME TO stored')
    await run(readers.database, 'CREATE VIEW specimens AS SELECT * FROM stored')
    try {
      await readers.getAll(await readers.warm())
      expect(readers.together).to.deep.equal([])
    } finally {
      await run(readers.database, 'DROP VIEW specimens')
      await run(readers.database, 'ALTER TABLE stored RENAME TO specimens')
    }
  })

  it('read the rules of the table once, and go out alone until they are known', async () => {
    const specimens = readers.fresh()
    readers.sent = []
    await readers.getAll(specimens)
    const reads = () => readers.sent.filter(({ text }) => /relrowsecurity|has_policies/.test(text))
    expect(reads()).to.have.length(1)
    expect(readers.together).to.deep.equal([])
    while (readers.together.length === 0) await readers.getAll(specimens)
    expect(reads()).to.have.length(1)
  })

  it('run outside of the context of every call', async () => {
    const specimens = await readers.warm()
    const seen = new Set<string | undefined>()
    const watch: Change = (send) => (text, values, options) => {
      if ((options?.calls ?? 1) > 1) seen.add(RequestContext.current().tenant)
      return send(text, values, options)
    }
    await readers.changed(watch, () => readers.getAll(specimens))
    expect([...seen]).to.deep.equal([''])
  })
})

describeOn('a backend that merges', coalesced, (backend) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject?.close())

  it('sends even one get through the statement of several', async () => {
    const { specimens } = subject
    await inAcme(async () => {
      const { id } = await specimens.create(draft())
      const sent: SentStatement[] = []
      const stop = watchStatements(subject.dataSource as DataSource, (one) => sent.push(one))
      // The first calls go out alone, until the rules of the table are known.
      while (!sent.some(({ text }) => text.includes('k.o'))) await specimens.get(id)
      stop()
    })
  })
})
