import { expect } from 'chai'
import { Aborted } from '../../../lib/errors.js'
import { isolationProblem } from '../../../lib/persistence/engines/declared-isolation.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { current, transaction } from '../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { column, run } from '../../support/databases/statement.js'
import { rejection } from '../../support/rejection.js'

const SERIALIZABLE = { isolation: 'serializable' } as const

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('isolation', postgres, ({ open }) => {
  let backend: OpenBackend
  let database: Database

  before(async () => {
    backend = await open([])
    database = backend.database!
    await run(database, 'CREATE TABLE pebble (id int)')
  })
  beforeEach(() => run(database, 'DELETE FROM pebble'))
  after(() => backend?.close())

  const level = () => column(current(database), 'SHOW transaction_isolation')

  it('is that of the DataSource, unless the transaction says another', async () => {
    const { dataSource } = database
    dataSource.setOptions({ isolationLevel: 'REPEATABLE READ' })
    try {
      expect(await transaction(database, level)).to.deep.equal(['repeatable read'])
      expect(await transaction(database, level, SERIALIZABLE)).to.deep.equal(['serializable'])
      expect(await transaction(database, () => transaction(database, level))).to.deep.equal([
        'repeatable read',
      ])
    } finally {
      Object.assign(dataSource.options, { isolationLevel: undefined })
    }
    expect(await transaction(database, level)).to.deep.equal(['read committed'])
  })

  for (const isolationLevel of ['READ UNCOMMITTED', 'SNAPSHOT'] as const)
    it(`is never another than the DataSource says: ${isolationLevel} is refused`, async () => {
      const { dataSource } = database
      dataSource.setOptions({ isolationLevel })
      try {
        expect(isolationProblem(dataSource)).to.contain(`isolationLevel "${isolationLevel}"`)
        await rejection(transaction(database, level), TypeError, isolationLevel)
      } finally {
        Object.assign(dataSource.options, { isolationLevel: undefined })
      }
    })

  for (const retries of [0, 1])
    it(`a serialization failure at the commit is tried again ${retries} times`, async () => {
      let attempts = 0
      let wrote: () => void = () => {}
      let commit: () => void = () => {}
      const secondWrote = new Promise<void>((resolve) => (wrote = resolve))
      const firstCommitted = new Promise<void>((resolve) => (commit = resolve))
      const count = async () => Number((await column(current(database), 'SELECT COUNT(*) FROM pebble'))[0])
      const second = transaction(
        database,
        async () => {
          attempts++
          const found = await count()
          await run(current(database), `INSERT INTO pebble VALUES (${found})`)
          wrote()
          await firstCommitted
        },
        { ...SERIALIZABLE, maxAttempts: 1 + retries },
      )
      await transaction(
        database,
        async () => {
          await count()
          await secondWrote
          await run(current(database), 'INSERT INTO pebble VALUES (0)')
        },
        SERIALIZABLE,
      )
      commit()
      if (retries === 0) await rejection(second, Aborted)
      else await second
      expect(attempts).to.equal(1 + retries)
      expect(await column(database, 'SELECT id FROM pebble ORDER BY id')).to.deep.equal(
        retries === 0 ? ['0'] : ['0', '1'],
      )
    })
})
