import type { DataSource } from 'typeorm'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import type { Backend } from '../../support/databases/backends.js'
import { Charter, Currency, Left, Project, RELATED, Right, Task, Team } from './projects.js'
import { collated } from '../repository/open-subject.js'

/** Repositories of resources that refer to one another, on one database. */
export interface RelationSubject {
  readonly currencies: Repository<Currency>
  readonly teams: Repository<Team>
  readonly projects: Repository<Project>
  readonly tasks: Repository<Task>
  readonly charters: Repository<Charter>
  readonly lefts: Repository<Left>
  readonly rights: Repository<Right>
  readonly dataSource: DataSource | undefined
  clear(): Promise<void>
  close(): Promise<void>
}

type Open = <E extends object>(entity: EntityClass<E>) => Repository<E>

const repositories = (open: Open) => ({
  currencies: open(Currency),
  teams: open(Team),
  projects: open(Project),
  tasks: open(Task),
  charters: open(Charter),
  lefts: open(Left),
  rights: open(Right),
})

const inMemory = () => {
  const database = new MemoryDatabase()
  return repositories((entity) => new (memoryRepositoryOf(entity))({ database }) as never)
}

/** Those of {@link RELATED}, without rows. */
export async function openRelations(backend: Backend): Promise<RelationSubject> {
  const { dataSource, database, close, distribute } = await backend.open(RELATED)
  if (dataSource === undefined || database === undefined) {
    const subject = {
      ...inMemory(),
      dataSource: undefined,
      clear: () => Promise.resolve(void Object.assign(subject, inMemory())),
      close,
    }
    return subject
  }
  await createTables(collated(dataSource, backend), RELATED, database.dialect.name)
  await distribute?.()
  return {
    ...repositories((entity) => new (repositoryOf(entity))(dataSource) as never),
    dataSource,
    clear: async () => {
      await dataSource.query('UPDATE lefts SET right_id = NULL')
      await dataSource.query('UPDATE tasks SET after_id = NULL')
      for (const table of ['rights', 'lefts', 'charters', 'tasks', 'projects', 'teams', 'currencies'])
        await dataSource.query(`DELETE FROM ${table}`)
    },
    close,
  }
}
