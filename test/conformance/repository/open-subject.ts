import type { DataSource } from 'typeorm'
import type { OperationOptions, ReadOptions } from '../../../lib/persistence/contract/repository.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import type { Backend } from '../../support/databases/backends.js'
import { Note, Specimen, type SpecimenClasses } from '../../support/entities/specimen.js'
import { draft, type Subject, subjectEntities, subjectOptions } from './subject.js'

interface Repositories {
  readonly OfSpecimens: ReturnType<typeof repositoryOf<Specimen>>
  readonly Pairs: ReturnType<typeof repositoryOf<Specimen>>
  readonly OfNotes: ReturnType<typeof repositoryOf<Note>>
  readonly InMemory: ReturnType<typeof memoryRepositoryOf<Specimen>>
  readonly PairsInMemory: ReturnType<typeof memoryRepositoryOf<Specimen>>
  readonly NotesInMemory: ReturnType<typeof memoryRepositoryOf<Note>>
}

/** The repositories of the two resources, with their columns named in a way. */
function repositoriesFor({ Specimen, Note }: SpecimenClasses): Repositories {
  const OfSpecimens = repositoryOf(Specimen)
  const InMemory = memoryRepositoryOf(Specimen)

  /** Makes a second specimen of each, and does something else before it gets one. */
  class Pairs extends OfSpecimens {
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

  class PairsInMemory extends InMemory {
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

  return {
    OfSpecimens,
    Pairs,
    OfNotes: repositoryOf(Note),
    InMemory,
    PairsInMemory,
    NotesInMemory: memoryRepositoryOf(Note),
  }
}

const SNAKE = repositoriesFor({ Specimen, Note })

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

const second = ({ id, code }: Specimen) => draft({ id: `${id} 2`, code: `${code} 2` })

export interface OpenSubject extends Subject {
  /** Undefined in memory alone. */
  readonly dataSource: DataSource | undefined
}

/**
 * The two resources on a fresh database of a backend.
 * @param named - with their columns named otherwise than by `@Resource()`.
 */
export async function openSubject(backend: Backend, named?: SpecimenClasses): Promise<OpenSubject> {
  const entities: readonly EntityClass<object>[] =
    named === undefined ? subjectEntities : [named.Specimen, named.Note]
  const repositories = named === undefined ? SNAKE : repositoriesFor(named)
  const { dataSource, database, close, distribute } = await backend.open([...entities])
  if (dataSource === undefined || database === undefined) return inMemory(repositories)
  await createTables(collated(dataSource, backend), entities, database.dialect.name)
  await distribute?.()
  return {
    ...repositoriesOn(dataSource, subjectOptions, repositories),
    dataSource,
    withOptions: (options) => repositoriesOn(dataSource, options, repositories),
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
  { OfSpecimens, Pairs, OfNotes }: Pick<Repositories, 'OfSpecimens' | 'Pairs' | 'OfNotes'> = SNAKE,
): Pick<Subject, 'specimens' | 'notes' | 'overridden'> => ({
  specimens: new OfSpecimens(dataSource, options),
  overridden: () => new Pairs(dataSource, options),
  notes: new OfNotes(dataSource, options),
})

/** MariaDB 10.11 has no collation of MySQL 8's name; the one it has orders the same. */
export function collated(dataSource: DataSource, { name }: Backend): DataSource {
  if (name !== 'mysql8') return dataSource
  const query = (text: string, values?: unknown[]) =>
    dataSource.query(text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin'), values)
  return Object.assign(Object.create(dataSource) as DataSource, { query })
}

function inMemory({ InMemory, NotesInMemory, PairsInMemory }: Repositories): OpenSubject {
  const fresh = (options = subjectOptions) => ({
    specimens: new InMemory(options),
    notes: new NotesInMemory(options),
  })
  const subject = {
    ...fresh(),
    dataSource: undefined,
    withOptions: fresh,
    overridden: () => new PairsInMemory(subjectOptions),
    clear: () => Promise.resolve(void Object.assign(subject, fresh())),
    close: () => Promise.resolve(),
  }
  return subject
}
