import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { Aborted } from '../../../lib/errors.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { Note } from '../../support/entities/specimen.js'
import { rejection } from '../../support/rejection.js'
import { run } from '../../support/databases/statement.js'

const MOST = 2 ** 31 - 1

/**
 * Where the statement and the question why it missed are no transaction, so that the row may change in
 * between.
 */
const apart = databases.filter(({ name }) => name === 'sqlite' || name === 'postgres')

describeOn('an increment that missed', apart, ({ open }) => {
  let backend: OpenBackend
  let database: Database

  before(async () => {
    backend = await open([Note])
    const dataSource = backend.dataSource!
    database = executorOf(dataSource)
    await createTables(dataSource, [Note], database.dialect.name)
  })
  beforeEach(async () => {
    await run(database, 'DELETE FROM notes')
    await run(database, 'INSERT INTO notes (name, text, stars) VALUES (?, ?, ?)', ['n', 'x', MOST])
  })
  after(() => backend?.close())

  /** Lets another writer set `stars` to 1 after each of so many updates, and back before the next. */
  const adding = async (misses: number): Promise<number> => {
    const { run: send } = database
    let updates = 0
    const set = (stars: number) =>
      run({ dialect: database.dialect, run: send.bind(database) }, 'UPDATE notes SET stars = ?', [stars])
    database.run = async (statement, values, options) => {
      if (!statement.text.startsWith('UPDATE')) return send.call(database, statement, values, options)
      await set(++updates <= misses ? MOST : 1)
      const result = await send.call(database, statement, values, options)
      if (updates <= misses) await set(1)
      return result
    }
    try {
      const notes = new (repositoryOf(Note))(database.dataSource)
      const { stars } = await new RequestContext().run(() =>
        notes.update('n', { stars: increment(1) }, ['stars']),
      )
      return stars
    } finally {
      database.run = send
    }
  }

  it('is tried again where the sum is in range by now', async () => {
    expect(await adding(2)).to.equal(2)
  })

  it('is given up where that goes on', async () => {
    await rejection(adding(99), Aborted, /kept changing/)
  })
})
