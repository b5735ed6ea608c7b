import {
  BeforeSoftRemove,
  Column,
  type DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm'
import {
  Credential,
  Emits,
  ETag,
  Expirable,
  Resource,
  Secret,
  SoftDeletable,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { RequestContext } from '../../../lib/context.js'
import type { Backend } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { collated } from '../repository/open-subject.js'

/** Soft-deleted, with everything that must not be told. */
@Resource()
@Entity('ledgers')
@TenantScoped()
@SoftDeletable()
@Expirable()
@Emits({ include: 'changed' })
export class Ledger {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) title!: string
  @Column({ type: 'int' }) pages!: number
  @ETag() etag!: string
  @UpdateTime() updateTime!: Date
  @Secret() pin?: Secret
  @Credential() token?: Credential
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

/** Goes with its ledger. */
@Resource()
@Entity('ledger_lines')
@TenantScoped()
@SoftDeletable()
@Emits({ include: 'before' })
export class LedgerLine {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) ledgerId!: string
  @ManyToOne(() => Ledger, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'ledger_id' })
  ledger?: Ledger
  accountId!: string
  deleteTime?: Date
}

/** Gone when it is deleted. */
@Resource()
@Entity('shelves')
@TenantScoped()
@Emits()
export class Shelf {
  @PrimaryColumn({ length: 64 }) id!: string
  accountId!: string
}

/** Can be undeleted, but not without its shelf, with which it goes. */
@Resource()
@Entity('binders')
@TenantScoped()
@SoftDeletable()
@Emits({ include: 'before' })
export class Binder {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) shelfId!: string
  @ManyToOne(() => Shelf, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shelf_id' })
  shelf?: Shelf
  accountId!: string
  deleteTime?: Date
}

/** The same with a hook, which is called for it. */
@Resource()
@Entity('boxes')
@TenantScoped()
@SoftDeletable()
@Emits({ include: 'before' })
export class Box {
  static readonly heard: string[] = []
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) shelfId!: string
  @ManyToOne(() => Shelf, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shelf_id' })
  shelf?: Shelf
  accountId!: string
  deleteTime?: Date

  @BeforeSoftRemove()
  goes(): void {
    Box.heard.push(this.id)
  }
}

/** Nobody's, gone when it is deleted; of its changes only two are told. */
@Resource({ shared: true })
@Entity('stamps')
@Expirable()
@Emits({ on: ['created', 'deleted'], source: 'https://stamps.example.com' })
export class Stamp {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) label!: string
  expireTime?: Date
}

/** Never told. */
@Resource()
@Entity('blotters')
@TenantScoped()
export class Blotter {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) label!: string
  accountId!: string
}

const toldEntities = [Ledger, LedgerLine, Shelf, Binder, Box, Stamp, Blotter] as const
const options = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }

/** An event as it stands in the outbox. */
export interface ToldEvent {
  readonly account: string
  readonly resource: string
  readonly key: string
  readonly type: string
  readonly payload: string
  readonly event: Readonly<Record<string, unknown>> & { readonly data: Readonly<Record<string, unknown>> }
}

const sqlRepositories = (dataSource: DataSource) => ({
  ledgers: new (repositoryOf(Ledger))(dataSource, options),
  lines: new (repositoryOf(LedgerLine))(dataSource, options),
  shelves: new (repositoryOf(Shelf))(dataSource, options),
  binders: new (repositoryOf(Binder))(dataSource, options),
  boxes: new (repositoryOf(Box))(dataSource, options),
  stamps: new (repositoryOf(Stamp))(dataSource, options),
  blotters: new (repositoryOf(Blotter))(dataSource, options),
})

const memoryRepositories = (database: MemoryDatabase) => ({
  ledgers: new (memoryRepositoryOf(Ledger))({ ...options, database }),
  lines: new (memoryRepositoryOf(LedgerLine))({ ...options, database }),
  shelves: new (memoryRepositoryOf(Shelf))({ ...options, database }),
  binders: new (memoryRepositoryOf(Binder))({ ...options, database }),
  boxes: new (memoryRepositoryOf(Box))({ ...options, database }),
  stamps: new (memoryRepositoryOf(Stamp))({ ...options, database }),
  blotters: new (memoryRepositoryOf(Blotter))({ ...options, database }),
})

export type ToldRepositories = ReturnType<typeof sqlRepositories> | ReturnType<typeof memoryRepositories>

export interface ToldSubject {
  readonly of: ToldRepositories
  readonly dataSource: DataSource | undefined
  readonly memory: MemoryDatabase | undefined
  transaction<T>(fn: (context: RequestContext) => Promise<T>): Promise<T>
  /** In the order of their positions. */
  events(): Promise<ToldEvent[]>
  clear(): Promise<void>
  close(): Promise<void>
}

export interface ToldHolder {
  readonly subject: ToldSubject
}

export async function openTold(backend: Backend): Promise<ToldSubject> {
  const { dataSource, database, close } = await backend.open([...toldEntities])
  if (dataSource === undefined || database === undefined) return inMemory()
  await applyBaseline(dataSource)
  await createTables(collated(dataSource, backend), toldEntities, database.dialect.name)
  return {
    of: sqlRepositories(dataSource),
    dataSource,
    memory: undefined,
    transaction: (fn) => transaction(dataSource, fn),
    events: async () => (await rowsIn(dataSource)).map(toldEvent),
    clear: async () => {
      for (const table of ['ledger_lines', 'ledgers', 'binders', 'boxes', 'shelves', 'stamps', 'blotters'])
        await dataSource.query(`DELETE FROM ${table}`)
      if ((await rowsIn(dataSource)).length > 0) await dataSource.query('DELETE FROM outbox')
    },
    close,
  }
}

interface StoredEvent {
  readonly account_id: string
  readonly aggregate_type: string
  readonly aggregate_id: string
  readonly event_type: string
  readonly payload: Buffer
}

/** On SQLite the table is not there before the first event. */
async function rowsIn(dataSource: DataSource): Promise<readonly StoredEvent[]> {
  try {
    return await dataSource.query('SELECT * FROM outbox ORDER BY position')
  } catch (error) {
    if (/no such table/.test(String(error))) return []
    throw error
  }
}

const toldEvent = (row: StoredEvent): ToldEvent => ({
  account: row.account_id,
  resource: row.aggregate_type,
  key: row.aggregate_id,
  type: row.event_type,
  payload: row.payload.toString(),
  event: JSON.parse(row.payload.toString()) as ToldEvent['event'],
})

function inMemory(): ToldSubject {
  const fresh = () => {
    const memory = new MemoryDatabase()
    return {
      of: memoryRepositories(memory),
      memory,
      transaction: <T>(fn: (context: RequestContext) => Promise<T>) => memory.transaction(fn),
      events: () =>
        Promise.resolve(
          [...memory.outbox.events.values()].map((one) =>
            toldEvent({
              account_id: one.accountId,
              aggregate_type: one.aggregateType,
              aggregate_id: one.aggregateId,
              event_type: one.eventType,
              payload: one.payload,
            }),
          ),
        ),
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
