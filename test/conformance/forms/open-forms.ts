import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Backend, OpenBackend } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { collated } from '../repository/open-subject.js'
import { type Choice, KEYS, TENANTS } from './form-choices.js'
import { type FieldName, type Formed, type Loose, STRATEGIES } from './form-entities.js'

/** A repository of entities whose properties nobody knows before. */
export type Loosely = Repository<Loose, PartValue>

/** The time of the repositories. No trigger sets it. */
export const NOW = new Date('2001-02-03T04:05:06.007Z')
const NAMES = [
  'id',
  'orgId',
  'title',
  'note',
  'count',
  'etag',
  'createTime',
  'updateTime',
  'expireTime',
] as const

/** The tables of several choices that are named in one way. */
export interface OpenForms {
  readonly backend: Backend
  readonly opened: OpenBackend
  close(): Promise<void>
}

export async function openForms(backend: Backend, all: readonly Formed[]): Promise<OpenForms> {
  const [first] = all
  const namingStrategy = first && STRATEGIES[first.choice.naming]
  const entities = all.flatMap((one) => one.entities)
  const opened = await backend.open(entities, { ...(namingStrategy && { namingStrategy }) })
  const { dataSource, database } = opened
  if (dataSource !== undefined && database !== undefined) {
    await applyBaseline(dataSource)
    for (const one of all) {
      const resources = one.entities.filter((entity) => entity !== one.Keeper)
      const made = asMadeByOthers(collated(dataSource, backend), one, database)
      await createTables(made, resources, database.dialect.name)
      if (one.choice.hasTrigger) for (const text of triggerOf(one, dataSource)) await dataSource.query(text)
    }
  }
  return { backend, opened, close: () => opened.close() }
}

type Engine = 'postgres' | 'mysql' | 'sqlite'
const engineOf = ({ options: { type } }: DataSource): Engine =>
  type === 'postgres' ? 'postgres' : type === 'mysql' || type === 'mariadb' ? 'mysql' : 'sqlite'

const STRFTIME = `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`
const CLOCK = {
  postgres: 'clock_timestamp()',
  mysql: 'CURRENT_TIMESTAMP(6)',
  sqlite: `(${STRFTIME})`,
} as const

/** As another application makes them: it sets the time of a new row, and knows no tenants. */
function asMadeByOthers(
  dataSource: DataSource,
  { entities, choice, Keeper }: Formed,
  { dialect }: Database,
): DataSource {
  const query = (text: string, values?: unknown[]) => {
    const made = entities.flatMap((entity) => {
      const isResource = choice.table !== 'new' && entity !== Keeper
      const model = isResource ? resourceModel(entity) : undefined
      return model !== undefined && text.includes(`TABLE IF NOT EXISTS ${dialect.text.quote(model.table)} (`)
        ? [model]
        : []
    })
    let changed = text
    for (const { updateTime, tenant } of made) {
      const line = (column: string) =>
        new RegExp(`(\n  ${escaped(dialect.text.quote(column))} [^\n]*?) NOT NULL`)
      if (updateTime !== undefined && choice.hasTrigger)
        changed = changed.replace(
          line(updateTime.column),
          (_, type: string) => `${type} NOT NULL DEFAULT ${CLOCK[engineOf(dataSource)]}`,
        )
      if (tenant !== undefined && choice.table === 'existing, keyed by id')
        changed = changed.replace(line(tenant.column), '$1')
    }
    return dataSource.query(changed, values)
  }
  return Object.assign(Object.create(dataSource) as DataSource, { query })
}

const escaped = (text: string) => text.replaceAll(/[$()*+.?[\]^{|}]/g, String.raw`\$&`)

/** Sets the time of every later write. */
function triggerOf({ Item }: Formed, dataSource: DataSource): readonly string[] {
  const { table, updateTime } = resourceModel(Item)
  const quote = (name: string) => dataSource.driver.escape(name)
  const column = quote(updateTime?.column ?? '')
  switch (engineOf(dataSource)) {
    case 'postgres':
      return [
        `CREATE FUNCTION touch_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.${column} := clock_timestamp(); RETURN NEW; END $$`,
        `CREATE TRIGGER touched BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION touch_${table}()`,
      ]
    case 'mysql':
      return [
        `CREATE TRIGGER touched_${table} BEFORE UPDATE ON ${table} FOR EACH ROW SET NEW.${column} = CURRENT_TIMESTAMP(6)`,
      ]
    case 'sqlite':
      return [
        `CREATE TRIGGER touched_${table} AFTER UPDATE ON ${table} WHEN NEW.${column} = OLD.${column}
          BEGIN UPDATE ${table} SET ${column} = ${STRFTIME} WHERE rowid = NEW.rowid; END`,
      ]
  }
}

/** Values of an item, by the names of its fields. */
export type Values = Partial<Readonly<Record<FieldName, unknown>>>

/** One resource on a backend, with rows of two tenants, and of none where the table has such. */
export class Trial {
  readonly items: Loosely
  readonly pieces: Loosely | undefined
  readonly orgs: Loosely | undefined
  readonly memory = new MemoryDatabase()
  readonly encryptor = newDev(Buffer.alloc(32, 7))
  readonly choice: Choice
  readonly dataSource: DataSource | undefined
  /** Two tenants, and what their rows hold of them. */
  readonly tenants: readonly [string, string]
  readonly values: readonly [PartValue, PartValue]
  #made = 0

  constructor(
    readonly formed: Formed,
    { opened: { dataSource } }: OpenForms,
  ) {
    this.choice = formed.choice
    this.dataSource = dataSource
    const { texts, valueOf } = TENANTS[this.choice.tenant]
    this.tenants = texts
    this.values = [valueOf(texts[0]), valueOf(texts[1])]
    const options = { now: () => NOW, minter: new CredentialMinter(), encryptor: this.encryptor }
    const on = (entity: EntityClass<Loose> | undefined) =>
      entity &&
      ((dataSource === undefined
        ? new (memoryRepositoryOf(entity))({ ...options, database: this.memory })
        : new (repositoryOf(entity))(dataSource, options)) as unknown as Loosely)
    this.items = on(formed.Item) as Loosely
    this.pieces = on(formed.Piece)
    this.orgs = on(formed.Org)
  }

  /** Removes every row, and makes the tenants where they are rows. */
  async clear(): Promise<void> {
    this.#made = 0
    for (const one of [this.pieces, this.items, this.orgs])
      if (one !== undefined) await this.query(`DELETE FROM ${one.model.table}`)
    // Of the contract are 1 and 2.
    if (this.orgs !== undefined)
      for (const id of new Set([1, 2, ...this.values]))
        await this.orgs.create({ id, title: `org ${String(id)}` })
  }

  as<T>(tenant: string, fn: () => Promise<T>): Promise<T> {
    return RequestContext.as({ tenant, subject: 'ada' }, fn)
  }

  asOurs<T>(fn: () => Promise<T>): Promise<T> {
    return this.as(this.tenants[0], fn)
  }

  asTheirs<T>(fn: () => Promise<T>): Promise<T> {
    return this.as(this.tenants[1], fn)
  }

  /** Undefined on memory, and else the rows. */
  async query(text: string): Promise<readonly Loose[]> {
    return (await this.dataSource?.query<Loose[]>(text)) ?? []
  }

  /** The name of a field's column, quoted. */
  column(field: FieldName): string {
    const property = this.formed.propertyOf(field)
    const { column = '' } = this.items.model.entityFields.find((one) => one.property === property) ?? {}
    return this.quoted(column)
  }

  quoted(name: string): string {
    return this.dataSource?.driver.escape(name) ?? name
  }

  /** Whether a row can be without a tenant. */
  get hasOrphans(): boolean {
    return this.dataSource !== undefined && this.choice.table === 'existing, keyed by id'
  }

  /** A key of the n-th row, which need not be there. */
  key(n: number): PartValue {
    const { textOf, valueOf } = KEYS[this.choice.key]
    return valueOf(textOf(n))
  }

  keyOf(item: Loose): PartValue {
    return item[this.formed.propertyOf('id')] as PartValue
  }

  /** A filter for one item. */
  is(item: Loose): string {
    const key = this.keyOf(item)
    return `id = ${typeof key === 'string' ? JSON.stringify(key) : String(key)}`
  }

  /** An entity, or a part of one. */
  to(values: Values): Loose {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [this.formed.propertyOf(name as FieldName), value]),
    )
  }

  /** The values of an entity. */
  of(item: Loose): Values {
    return Object.fromEntries(NAMES.map((name) => [name, item[this.formed.propertyOf(name)]]))
  }

  titles(items: readonly Loose[]): readonly unknown[] {
    return items.map((item) => item[this.formed.propertyOf('title')])
  }

  /** Makes an item for the tenant of the caller. */
  make(title: string, values: Values = {}): Promise<Loose> {
    const id = this.choice.key === 'minted' ? undefined : this.key(++this.#made)
    return this.items.create(this.to({ ...(id !== undefined && { id }), ...this.draft(title), ...values }))
  }

  draft(title: string): Values {
    return { title, note: `of ${title}`, count: 1, ...(this.choice.hasSecrets && { pin: `pin of ${title}` }) }
  }

  /** Makes what refers to an item. */
  async piece(id: string, item: Loose): Promise<void> {
    await this.pieces?.create({ id, itemId: this.keyOf(item) })
  }

  /** Takes the tenant from a row. */
  async orphan({ model }: Loosely, key: PartValue): Promise<void> {
    const [tenant, id] = [model.tenant?.column ?? '', model.key.column]
    await this.query(
      `UPDATE ${model.table} SET ${this.quoted(tenant)} = NULL WHERE ${this.quoted(id)} = ${typeof key === 'string' ? `'${key}'` : String(key)}`,
    )
  }

  /** The rows that are not ours, as the tables have them. */
  async others(): Promise<readonly (readonly Loose[])[]> {
    const all = [this.items, ...(this.pieces === undefined ? [] : [this.pieces])]
    if (this.dataSource === undefined)
      return this.asTheirs(() =>
        Promise.all(all.map(async (one) => (await one.list({ showDeleted: true })).items)),
      )
    const [ours] = this.values
    const value = typeof ours === 'string' ? `'${ours}'` : String(ours)
    return Promise.all(
      all.map(({ model: { table, tenant, key } }) => {
        const column = this.quoted(tenant?.column ?? '')
        return this.query(
          `SELECT * FROM ${table} WHERE ${column} IS NULL OR ${column} <> ${value} ORDER BY ${this.quoted(key.column)}`,
        )
      }),
    )
  }
}
