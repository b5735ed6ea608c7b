import { createTables } from '../../lib/persistence/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite.js'
import { Note, Specimen } from '../support/specimen.js'
import { atomicity } from './atomicity.js'
import { repositoryConformance } from './repository.js'
import { type Subject, subjectEntities, subjectOptions } from './subject.js'

const openMemory = (): Promise<Subject> => {
  const fresh = () => ({
    specimens: new (memoryRepositoryOf(Specimen))(subjectOptions),
    notes: new (memoryRepositoryOf(Note))(subjectOptions),
  })
  const subject = {
    ...fresh(),
    clear: () => Promise.resolve(void Object.assign(subject, fresh())),
    close: () => Promise.resolve(),
  }
  return Promise.resolve(subject)
}

let sqlite: SqliteDataSource

const openSqlite = async (): Promise<Subject> => {
  const dataSource = await new SqliteDataSource({
    database: ':memory:',
    entities: [...subjectEntities],
  }).initialize()
  sqlite = dataSource
  await createTables(dataSource, subjectEntities, 'sqlite')
  return {
    specimens: new (repositoryOf(Specimen))(dataSource, subjectOptions),
    notes: new (repositoryOf(Note))(dataSource, subjectOptions),
    clear: async () => {
      for (const table of ['specimens', 'notes']) await dataSource.query(`DELETE FROM ${table}`)
    },
    close: () => dataSource.destroy(),
  }
}

for (const [name, open] of Object.entries({ memory: openMemory, sqlite: openSqlite }))
  describe(`repository on ${name}`, () => {
    const holder = { subject: undefined as never as Subject }
    before(async () => {
      holder.subject = await open()
    })
    beforeEach(() => holder.subject.clear())
    after(() => holder.subject.close())
    repositoryConformance(holder)
    if (name === 'sqlite') atomicity(holder, () => sqlite)
  })
