import { expect } from 'chai'
import { Unavailable } from '../../lib/errors.js'
import { migrate, type MigrateOptions, pendingVersions, schemaIsCurrent } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, tables } from './each-engine.js'

onEachEngine('the state of a schema', (database, dialect) => {
  const optionsOf = (files: MigrateOptions['files']): MigrateOptions => ({ url: database().url, files })

  it('says of every version whether it is applied, pending, dirty, edited or ahead', async () => {
    await migrate(optionsOf(tables(2, 3, 4))).up()
    await failureOf(migrate(optionsOf({ ...tables(2, 3, 4), ...file('0005_t5', 'nonsense', '') })).up())
    const files = { ...tables(2, 3), '0003_t3.up.sql': 'SELECT 3', ...tables(9001) }
    const states = await migrate(optionsOf(files)).status()
    expect(states.map(({ name, state }) => [name, state])).to.deep.equal([
      ['0001_framework_init', 'applied'],
      ['0002_t2', 'applied'],
      ['0003_t3', 'edited'],
      ['0004_t4', 'ahead'],
      ['0005_t5', 'dirty'],
      ['9001_t9001', 'pending'],
    ])
    const [applied, , , , dirty, pending] = states
    expect(applied?.appliedAt).to.be.instanceOf(Date)
    expect(dirty?.error).to.match(/0005_t5\.up\.sql, statement 1 of 1/)
    expect(pending?.appliedAt).to.equal(undefined)
  })

  it('is verified line by line', async () => {
    await migrate(optionsOf(tables(2, 3))).up()
    if (dialect === 'postgres')
      await database().rows(
        "CREATE INDEX broken ON t2 (id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass",
      )
    const files = { ...tables(2), '0002_t2.up.sql': 'SELECT 2', ...tables(9001) }
    expect(await migrate(optionsOf(files)).verify()).to.deep.equal([
      '0002_t2 was edited after it was applied',
      '0003_t3 is applied, and these files do not have it',
      '9001_t9001 is not applied',
      ...(dialect === 'postgres'
        ? [
            'the index public.broken is INVALID: no query uses it, and every write pays for it; ' +
              'REINDEX INDEX CONCURRENTLY builds it anew',
          ]
        : []),
    ])
  })

  it('is what a server waits for: it says which version is missing until it is there', async () => {
    const check = schemaIsCurrent(optionsOf(tables(2, 3)))
    await migrate(optionsOf(tables(2))).up()
    expect(await pendingVersions(optionsOf(tables(2, 3)))).to.deep.equal(['0003_t3'])
    const failure = await failureOf(check())
    expect(failure).to.be.instanceOf(Unavailable)
    expect(failure.message).to.match(
      /the schema is older than this server: 0003_t3 missing; run ashlar migrate up/,
    )
    await migrate(optionsOf(tables(2, 3))).up()
    await check()
    expect(await pendingVersions(optionsOf(tables(2, 3)))).to.deep.equal([])
  })

  it('is pending where a version failed, and enough where the schema is newer', async () => {
    await failureOf(migrate(optionsOf(file('0002_t2', 'nonsense', ''))).up())
    expect(await pendingVersions(optionsOf(tables(2)))).to.deep.equal(['0002_t2'])
    await migrate(optionsOf(tables(2, 3))).up()
    await schemaIsCurrent(optionsOf(tables(2)))()
  })
})
