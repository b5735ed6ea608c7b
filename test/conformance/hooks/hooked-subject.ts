import type { DataSource } from 'typeorm'
import type { ReadOptions } from '../../../lib/persistence/contract/repository.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Backend } from '../../support/databases/backends.js'
import { doing, Entry, Task, reported } from '../../support/entities/hooked.js'
import { collated } from '../repository/open-subject.js'
import { inAcme } from '../repository/subject.js'

export const hookedOptions = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
const TaskRepository = repositoryOf(Task)
const EntryRepository = repositoryOf(Entry)
const TaskMemory = memoryRepositoryOf(Task)
const EntryMemory = memoryRepositoryOf(Entry)

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

class SlowEntries extends EntryRepository {
  override async get(key: string, options?: ReadOptions): Promise<Entry> {
    await pause()
    return super.get(key, options)
  }
}

class SlowMemory extends EntryMemory {
  override async get(key: string, options?: ReadOptions): Promise<Entry> {
    await pause()
    return super.get(key, options)
  }
}

export interface HookedSubject {
  readonly tasks: InstanceType<typeof TaskRepository> | InstanceType<typeof TaskMemory>
  readonly entries: InstanceType<typeof EntryRepository> | InstanceType<typeof EntryMemory>
  /** Entries of a class that overrides get: it does something else first. In memory they are others. */
  readonly slow: SlowEntries | SlowMemory
  readonly dataSource: DataSource | undefined
  clear(): Promise<void>
  close(): Promise<void>
}

export interface HookedHolder {
  readonly subject: HookedSubject
}

/** Two resources with hooks, on one database. */
export async function openHooked(backend: Backend): Promise<HookedSubject> {
  const { dataSource, database, close } = await backend.open([Task, Entry])
  if (dataSource === undefined || database === undefined) return inMemory()
  await createTables(collated(dataSource, backend), [Task, Entry], database.dialect.name)
  return {
    tasks: new TaskRepository(dataSource, hookedOptions),
    entries: new EntryRepository(dataSource, hookedOptions),
    slow: new SlowEntries(dataSource, hookedOptions),
    dataSource,
    clear: async () => {
      for (const table of ['tasks', 'entries']) await dataSource.query(`DELETE FROM ${table}`)
    },
    close,
  }
}

function inMemory(): HookedSubject {
  const fresh = () => {
    const database = new MemoryDatabase()
    return {
      tasks: new TaskMemory({ ...hookedOptions, database }),
      entries: new EntryMemory({ ...hookedOptions, database }),
      slow: new SlowMemory({ ...hookedOptions, database: new MemoryDatabase() }),
    }
  }
  const subject = {
    ...fresh(),
    dataSource: undefined,
    clear: () => Promise.resolve(void Object.assign(subject, fresh())),
    close: () => Promise.resolve(),
  }
  return subject
}

/** Hooks do nothing again, and have been told nothing. */
export function quiet(): void {
  reported.length = 0
  for (const event of Object.keys(doing)) Reflect.deleteProperty(doing, event)
}

let sequence = 0

export const casesOf = (holder: HookedHolder) => ({
  make: (id: string, more: Partial<Task> = {}) =>
    inAcme(() =>
      holder.subject.tasks.create({
        id,
        title: 'Cut',
        code: `code-${++sequence}`,
        revision: 0,
        tags: {},
        ...more,
      }),
    ),
  /** As it is stored, whatever the hooks do to what is read. */
  stored: async (id: string): Promise<Task | undefined> => {
    const { AfterLoad } = doing
    delete doing.AfterLoad
    const { items } = await inAcme(() => holder.subject.tasks.list({ showDeleted: true }))
    if (AfterLoad !== undefined) doing.AfterLoad = AfterLoad
    return items.find((task) => task.id === id)
  },
  texts: async () => (await inAcme(() => holder.subject.entries.list())).items.map(({ text }) => text),
  events: (...without: readonly string[]) =>
    reported
      .filter(([event]) => event !== 'AfterLoad' && !without.includes(event))
      .map(([event, id]) => `${event} ${id}`),
})
