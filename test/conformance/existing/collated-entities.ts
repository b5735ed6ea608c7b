import 'reflect-metadata'
import type { DataSource } from 'typeorm'
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, Unique } from 'typeorm'
import {
  Emits,
  ETag,
  Expirable,
  Resource,
  Searchable,
  Secret,
  SoftDeletable,
  TenantScoped,
} from '../../../decorators/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import type { Backend, OpenBackend } from '../../support/databases/backends.js'
import { collated } from '../repository/open-subject.js'
import { engineOf } from './existing-entities.js'

export interface Depot {
  id: string
  accountId: string
  title: string
  code?: string
  owner: string
  secret?: Secret
  etag: string
  expireTime?: Date
  crates?: Crate[]
}

export interface Crate {
  id: string
  accountId: string
  depotId: string
  label: string
  depot?: Depot
}

/** A key without the tenant, and no deletion to take back. */
export interface Token {
  id: string
  accountId: string
  title: string
  expireTime?: Date
}

export interface Collated {
  readonly Depot: EntityClass<Depot>
  readonly Crate: EntityClass<Crate>
  readonly Token: EntityClass<Token>
}

/** Resources whose texts have a collation of their own, keys, tenants and references among them. */
export function collatedEntities(collation: string): Collated {
  const text = () => ({ type: 'varchar' as const, length: 80, collation })
  @Resource({ existing: true, type: 'depot' })
  @Entity('depots')
  @TenantScoped()
  @SoftDeletable()
  @Expirable()
  @Emits()
  @Searchable({ sources: ['title'] })
  @Unique(['code'])
  class AnyDepot implements Depot {
    @PrimaryColumn(text()) id!: string
    @Column(text()) accountId!: string
    @Column(text()) title!: string
    @Column({ ...text(), nullable: true }) code?: string
    @Column(text()) owner!: string
    @Secret() secret?: Secret
    @ETag() etag!: string
    deleteTime?: Date
    expireTime?: Date
    @OneToMany(() => AnyCrate, (crate) => crate.depot) crates?: AnyCrate[]
  }
  @Resource({ existing: true, type: 'crate' })
  @Entity('crates')
  @TenantScoped()
  @SoftDeletable()
  class AnyCrate implements Crate {
    @PrimaryColumn(text()) id!: string
    @Column(text()) accountId!: string
    @Column(text()) depotId!: string
    @Column(text()) label!: string
    deleteTime?: Date
    @ManyToOne(() => AnyDepot, (depot) => depot.crates, { onDelete: 'CASCADE' })
    @JoinColumn({ name: 'depot_id' })
    depot?: AnyDepot
  }
  @Resource({ existing: true, type: 'token' })
  @Entity('tokens')
  @Expirable()
  class AnyToken implements Token {
    @PrimaryColumn(text()) id!: string
    @Column(text()) accountId!: string
    @Column(text()) title!: string
    expireTime?: Date
  }
  return { Depot: AnyDepot, Crate: AnyCrate, Token: AnyToken }
}

/** What an application that is not Ashlar's may have chosen, and how it compares. */
export const COLLATIONS = {
  postgres: 'loose',
  mysql: 'utf8mb4_unicode_ci',
  sqlite: 'NOCASE',
} as const

const COLUMNS = ['id', 'account_id', 'title', 'code', 'owner', 'depot_id', 'label']

/** Makes the tables, with the collation in each column that declares it. */
export async function makeCollated(opened: OpenBackend, backend: Backend, entities: Collated): Promise<void> {
  const { dataSource, database } = opened
  const engine = engineOf(backend.name)
  if (dataSource === undefined || database === undefined || engine === undefined) return
  if (engine === 'postgres')
    await dataSource.query(
      `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
    )
  const column = new RegExp(
    `^(\\s*["\`](?:${COLUMNS.join('|')})["\`] \\S+)(?: CHARACTER SET utf8mb4)? COLLATE [^\\s,]+`,
    'gm',
  )
  const loose = COLLATIONS[engine]
  const query = (text: string, values?: unknown[]) =>
    collated(dataSource, backend).query(text.replaceAll(column, `$1 COLLATE ${loose}`), values)
  const changed = Object.assign(Object.create(dataSource) as DataSource, { query })
  await createTables(changed, Object.values(entities), database.dialect.name)
}
