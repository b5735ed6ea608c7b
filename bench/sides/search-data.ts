import pg from 'pg'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, Searchable, TenantScoped } from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import { createTable } from '../../lib/persistence/schema/create-table.js'
import { tableOf } from '../../lib/persistence/schema/table-of.js'
import { searchTables } from '../../lib/persistence/schema/search-tables.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { type EntityClass, resourceModel } from '../../lib/resource/resource-model.js'
import type { Side } from '../subject.js'
import { benchUrl } from './postgres-address.js'
import { fill } from './postgres-data.js'
import { postgres } from '../../lib/persistence/dialects/postgres.js'

const ROWS = 200_000
const TENANTS = 20

/** The table with a stored search vector. */
@Resource()
@Searchable({ strategy: 'INDEXED' })
@Entity('articles')
@TenantScoped()
export class IndexedArticle {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') title!: string
  @Searchable() @Column('text') body!: string
  @ETag() etag!: string
  accountId!: string
}

/** The same rows without using the vector. */
@Resource()
@Searchable({ strategy: 'JIT' })
@Entity('articles')
@TenantScoped()
export class PlainArticle {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') title!: string
  @Searchable() @Column('text') body!: string
  @ETag() etag!: string
  accountId!: string
}

/** Searches for a word that occurs in one row. */
export async function searching<E extends { id: string }>(entity: EntityClass<E>): Promise<Side> {
  await fillArticles()
  const dataSource = await new DataSource({
    type: 'postgres',
    url: benchUrl(),
    entities: [entity],
  }).initialize()
  const articles = new TypeormRepository(dataSource, entity)
  let n = 0
  return {
    operations: {
      async 'rare word'() {
        n = (n + 7919) % ROWS
        const principal = { tenant: `tenant-${n % TENANTS}`, subject: 'bench', groups: [], scopes: [] }
        const context = new RequestContext({ principal })
        const { items } = await articles.list({ search: `rare${n}` }, { context })
        if (items.length !== 1 || items[0]?.id !== `a${n}`) throw new TypeError(`rare${n}`)
      },
    },
    tearDown: () => dataSource.destroy(),
  }
}

/** Creates the table once. Concurrent callers wait. */
async function fillArticles(): Promise<void> {
  await fill()
  const client = new pg.Client({ connectionString: benchUrl() })
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock(4712)')
    const { rowCount } = await client.query(`SELECT 1 FROM pg_class WHERE relname = 'articles'`)
    if (rowCount !== 0) return
    const [create = '', ...indexes] = createTable(tableOf(resourceModel(PlainArticle), postgres), postgres)
    const [{ vector } = { vector: '' }] = searchTables({ IndexedArticle }).tables
    await client.query('BEGIN')
    await client.query(create)
    await client.query(
      `INSERT INTO articles (id, account_id, title, body, etag)
       SELECT 'a' || i, 'tenant-' || i % ${TENANTS}, 'An article about rare' || i, 'It is made of common words such as stone and steel, number ' || i % 500, ''
       FROM generate_series(0, ${ROWS - 1}) i`,
    )
    await client.query(
      `ALTER TABLE articles ADD COLUMN search_vector tsvector GENERATED ALWAYS AS (${vector}) STORED`,
    )
    for (const index of [...indexes, 'CREATE INDEX ON articles USING GIN (search_vector)'])
      await client.query(index)
    await client.query('COMMIT')
    await client.query('VACUUM ANALYZE articles')
  } finally {
    await client.end()
  }
}
