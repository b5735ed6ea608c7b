import type { DataSource } from 'typeorm'
import { createTables } from '../../lib/persistence/create-tables.js'
import type { Dialect } from '../../lib/persistence/executor.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { type Backend, backends, describeOn } from '../support/backends.js'
import { Note, Specimen } from '../support/specimen.js'
import { atomicity } from './atomicity.js'
import { repositoryConformance } from './repository.js'
import { type Subject, subjectEntities, subjectOptions } from './subject.js'

const SpecimenRepository = repositoryOf(Specimen)
const NoteRepository = repositoryOf(Note)
const SpecimenMemory = memoryRepositoryOf(Specimen)
const NoteMemory = memoryRepositoryOf(Note)

interface OpenSubject extends Subject {
  readonly dataSource: DataSource | undefined
}

async function open(backend: Backend): Promise<OpenSubject> {
  const { dataSource, database, close } = await backend.open([...subjectEntities])
  if (dataSource === undefined || database === undefined) return inMemory()
  await createTables(collated(dataSource, backend), subjectEntities, database.dialect satisfies Dialect)
  return {
    dataSource,
    specimens: new SpecimenRepository(dataSource, subjectOptions),
    notes: new NoteRepository(dataSource, subjectOptions),
    clear: async () => {
      for (const table of ['specimens', 'notes']) await dataSource.query(`DELETE FROM ${table}`)
    },
    close,
  }
}

/** MariaDB 10.11 has no collation of MySQL 8's name; the one it has orders the same. */
function collated(dataSource: DataSource, { name }: Backend): Pick<DataSource, 'query'> {
  if (name !== 'mysql8') return dataSource
  return {
    query: (text: string, values?: unknown[]) =>
      dataSource.query(text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin'), values),
  }
}

function inMemory(): OpenSubject {
  const fresh = () => ({
    specimens: new SpecimenMemory(subjectOptions),
    notes: new NoteMemory(subjectOptions),
  })
  const subject = {
    ...fresh(),
    dataSource: undefined,
    clear: () => Promise.resolve(void Object.assign(subject, fresh())),
    close: () => Promise.resolve(),
  }
  return subject
}

describeOn('repository', backends, (backend) => {
  const holder = { subject: undefined as never as OpenSubject }
  before(async () => {
    holder.subject = await open(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  repositoryConformance(holder)
  if (backend.name !== 'memory') atomicity(holder, () => holder.subject.dataSource as DataSource)
})
