import type { DataSource } from 'typeorm'
import type { OperationOptions, ReadOptions } from '../../../lib/persistence/contract/repository.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import type { Backend } from '../../support/databases/backends.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { draft, type Subject, subjectEntities, subjectOptions } from './subject.js'

const SpecimenRepository = repositoryOf(Specimen)
const NoteRepository = repositoryOf(Note)
const SpecimenMemory = memoryRepositoryOf(Specimen)
const NoteMemory = memoryRepositoryOf(Note)

/** Makes a second specimen of each, and does something else before it gets one. */
class PairRepository extends SpecimenRepository {
  override async create(input: Partial<Specimen>, options?: OperationOptions): Promise<Specimen> {
    return this.transaction(async () => {
      const made = await super.create(input, options)
      await super.create(second(made), options)
      return made
    })
  }

  override async get(key: string, options?: ReadOptions): Promise<Specimen> {
    await pause()
    return super.get(key, options)
  }
}

class PairMemory extends SpecimenMemory {
  override async create(input: Partial<Specimen>, options?: OperationOptions): Promise<Specimen> {
    return this.transaction(async () => {
      const made = await super.create(input, options)
      await super.create(second(made), options)
      return made
    })
  }

  override async get(key: string, options?: ReadOptions): Promise<Specimen> {
    await pause()
    return super.get(key, options)
  }
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

const second = ({ id, code }: Specimen) => draft({ id: `${id} 2`, code: `${code} 2` })

export interface OpenSubject extends Subject {
  /** Undefined in memory alone. */
  readonly dataSource: DataSource | undefined
}

/** The two resources on a fresh database of a backend. */
export async function openSubject(backend: Backend): Promise<OpenSubject> {
  const { dataSource, database, close } = await backend.open([...subjectEntities])
  if (dataSource === undefined || database === undefined) return inMemory()
  await createTables(collated(dataSource, backend), subjectEntities, database.dialect.name)
  return {
    ...repositoriesOn(dataSource),
    dataSource,
    withOptions: (options) => repositoriesOn(dataSource, options),
    clear: async () => {
      for (const table of ['specimens', 'notes']) await dataSource.query(`DELETE FROM ${table}`)
    },
    close,
  }
}

/** Repositories of the two resources on tables that exist. */
export const repositoriesOn = (
  dataSource: DataSource,
  options: RepositoryOptions = subjectOptions,
): Pick<Subject, 'specimens' | 'notes' | 'overridden'> => ({
  specimens: new SpecimenRepository(dataSource, options),
  overridden: () => new PairRepository(dataSource, options),
  notes: new NoteRepository(dataSource, options),
})

/** MariaDB 10.11 has no collation of MySQL 8's name; the one it has orders the same. */
export function collated(dataSource: DataSource, { name }: Backend): DataSource {
  if (name !== 'mysql8') return dataSource
  const query = (text: string, values?: unknown[]) =>
    dataSource.query(text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin'), values)
  return Object.assign(Object.create(dataSource) as DataSource, { query })
}

function inMemory(): OpenSubject {
  const fresh = (options = subjectOptions) => ({
    specimens: new SpecimenMemory(options),
    notes: new NoteMemory(options),
  })
  const subject = {
    ...fresh(),
    dataSource: undefined,
    withOptions: fresh,
    overridden: () => new PairMemory(subjectOptions),
    clear: () => Promise.resolve(void Object.assign(subject, fresh())),
    close: () => Promise.resolve(),
  }
  return subject
}
