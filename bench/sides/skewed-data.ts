import pg from 'pg'
import { Column, DataSource, Entity, Index, PrimaryColumn } from 'typeorm'
import { Resource, Searchable, TenantScoped } from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import type { ListOptions } from '../../lib/persistence/contract/repository.js'
import { createTable } from '../../lib/persistence/schema/create-table.js'
import { tableOf } from '../../lib/persistence/schema/table-of.js'
import { searchTables } from '../../lib/persistence/schema/search-tables.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import { postgres } from '../../lib/persistence/dialects/postgres.js'
import type { Side } from '../subject.js'
import { benchUrl } from './postgres-address.js'
import { filledOnce } from './postgres-data.js'

/** With `ASHLAR_BENCH_LONG=1`, the large tenant is five times as large. */
const LARGE = process.env['ASHLAR_BENCH_LONG'] === '1' ? 5_000_000 : 1_000_000
const SMALL_TENANTS = 1000
const SMALL = 100
const CATEGORIES = 50
const DATABASE = `ashlar_bench_skewed_${LARGE / 1_000_000}`

/** A table in which one tenant owns almost all rows. */
@Resource()
@Searchable({ strategy: 'INDEXED' })
@Entity('parts')
@TenantScoped()
@Index(['rank'])
@Index(['category'])
class SkewedPart {
  @PrimaryColumn() id!: string
  @Column() category!: string
  @Column('int') rank!: number
  @Searchable() @Column('text') title!: string
  accountId!: string
}

/** @param options - session options in PostgreSQL's format. */
export async function skewed(options: string): Promise<Side> {
  await filledOnce(DATABASE, fillTenants)
  const dataSource = await new DataSource({
    type: 'postgres',
    url: benchUrl(DATABASE),
    entities: [SkewedPart],
    poolSize: 1,
    extra: { options },
  }).initialize()
  const parts = new TypeormRepository(dataSource, SkewedPart)
  const as = (tenant: string) => ({
    context: new RequestContext({ principal: { tenant, subject: 'bench', groups: [], scopes: [] } }),
  })
  let turn = 0
  const small = () => as(`small-${(turn = (turn + 1) % SMALL_TENANTS)}`)
  const lists = (name: string, rows: number, asked: ListOptions<SkewedPart>) => ({
    [`large, ${name}`]: async () => checked(await parts.list(asked, as('large')), 50),
    [`small, ${name}`]: async () => checked(await parts.list(asked, small()), rows),
  })
  const operations = {
    ...lists('filter', SMALL / CATEGORIES, { filter: 'category = "c7"' }),
    ...lists('filter and order', SMALL / CATEGORIES, { filter: 'category = "c7"', orderBy: 'rank desc' }),
    ...lists('order', 50, { orderBy: 'rank desc' }),
    ...lists('common word', 50, { search: 'stone' }),
    // Every small tenant has the word; the large one has it in one row.
    'large, rare word': async () => checked(await parts.list({ search: 'obsidian' }, as('large')), 1),
    'large, get': async () => void (await parts.get('p77', as('large'))),
  }
  // Most calls come from small tenants, so a cached generic plan is theirs.
  for (const [name, operation] of Object.entries(operations))
    if (name.startsWith('small')) for (let i = 0; i < 12; i++) await operation()
  return { operations, tearDown: () => dataSource.destroy() }
}

const checked = ({ items }: { readonly items: readonly unknown[] }, rows: number): void => {
  if (items.length !== rows) throw new TypeError(`${items.length} rows in place of ${rows}`)
}

async function fillTenants(): Promise<void> {
  console.error(`filling ${DATABASE}, once`)
  const client = new pg.Client({ connectionString: benchUrl(DATABASE) })
  await client.connect()
  try {
    const [create = '', ...indexes] = createTable(tableOf(resourceModel(SkewedPart), postgres), postgres)
    const [{ vector } = { vector: '' }] = searchTables({ SkewedPart }).tables
    await client.query(create)
    await client.query(
      `ALTER TABLE parts ADD COLUMN search_vector tsvector GENERATED ALWAYS AS (${vector}) STORED`,
    )
    const insert = (tenant: string, category: string, title: string, rows: number) =>
      client.query(
        `INSERT INTO parts (account_id, id, category, rank, title)
         SELECT ${tenant}, 'p' || i, 'c' || ${category} % ${CATEGORIES}, i::bigint * 7919 % 1000003, ${title} FROM generate_series(1, ${rows}) i`,
      )
    await insert(
      `'large'`,
      'i',
      `'a stone' || CASE WHEN i = ${LARGE / 2} THEN ' of obsidian' ELSE '' END`,
      LARGE,
    )
    await insert(
      `'small-' || i % ${SMALL_TENANTS}`,
      `(i / ${SMALL_TENANTS})`,
      `'a stone of obsidian'`,
      SMALL_TENANTS * SMALL,
    )
    for (const index of [...indexes, 'CREATE INDEX ON parts USING GIN (search_vector)'])
      await client.query(index)
    await client.query('VACUUM ANALYZE parts')
  } finally {
    await client.end()
  }
}
