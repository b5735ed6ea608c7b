import 'reflect-metadata'
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Column,
  type DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm'
import { OutputOnly, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { differenceText } from '../../../lib/migrations/index.js'
import type { TableNote } from '../../../lib/text/table-difference.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { root } from '../../support/root.js'
import { liveSchemaOf } from './live-schema.js'

@Resource({ existing: true })
@Entity('orders')
@TenantScoped()
@Unique('orders_code', ['code'])
class Order {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column({ length: 40 }) accountId!: string
  @Column({ length: 80 }) title!: string
  @Column({ type: 'varchar', length: 40, nullable: true }) code?: string
  @Column({ type: 'varchar', length: 40, nullable: true }) customerId?: string
  @Column({ type: Date, nullable: true }) dueTime?: Date
  @Column({ type: 'int' }) @OutputOnly({ generated: true }) revision!: number
}

@Resource({ existing: true })
@Entity('parts')
@TenantScoped()
class Part {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column({ length: 40 }) accountId!: string
  @Column({ type: 'int' }) orderId!: number
  @ManyToOne(() => Order) @JoinColumn({ name: 'order_id' }) order?: Order
}

@Resource({ existing: true, shared: true })
@Entity('shelves')
@SoftDeletable()
class Shelf {
  @PrimaryColumn({ type: 'int' }) id!: number
}

@Resource({ existing: true, shared: true })
@Entity('books')
@SoftDeletable()
class Book {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column({ type: 'int' }) shelfId!: number
  @ManyToOne(() => Shelf) @JoinColumn({ name: 'shelf_id' }) shelf?: Shelf
}

/** A relation without a property for its key. */
@Resource({ existing: true, shared: true })
@Entity('covers')
class Cover {
  @PrimaryColumn({ type: 'int' }) id!: number
  @ManyToOne(() => Shelf) @JoinColumn({ name: 'shelf_id' }) shelf?: Shelf
}

@Resource({ existing: true, shared: true })
@Entity('scans')
class Scan {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column('blob') image!: Uint8Array
}

@Resource({ existing: true })
@Entity('slips')
@TenantScoped()
class Slip {
  @PrimaryGeneratedColumn() id!: number
  @Column({ length: 40 }) accountId!: string
}

const COMPARED = backends.filter(({ name }) => name === 'postgres' || name === 'mariadb')

describeOn('a table of another application', COMPARED, (backend) => {
  const isPostgres = backend.name === 'postgres'
  const [text, exact, loose] = isPostgres
    ? ['varchar', '', '']
    : ['varchar', ' COLLATE utf8mb4_nopad_bin', ' COLLATE utf8mb4_general_ci']
  let dataSource: DataSource
  let close: () => Promise<void>

  before(async () => {
    const opened = await backend.open([Order])
    close = opened.close
    dataSource = opened.dataSource as DataSource
  })
  after(() => close())
  beforeEach(() => dataSource.query('DROP TABLE IF EXISTS orders'))

  const verified = async () => {
    const notes: TableNote[] = []
    const found = await schemaComparison([Order], { note: (note) => notes.push(note) })(
      liveSchemaOf(dataSource),
    )
    const of = ({ kind, column = '' }: { readonly kind: string; readonly column?: string }) =>
      `${kind} ${column}`.trim()
    return { found: found.map(of), noted: notes.map(of), notes }
  }
  const COLUMNS = {
    id: 'integer PRIMARY KEY',
    account_id: `${text}(40)${exact} NOT NULL`,
    title: `${text}(80)${exact} NOT NULL`,
    code: `${text}(40)${exact}`,
    customer_id: `${text}(40)${exact}`,
    due_time: isPostgres ? 'timestamp' : 'datetime',
    revision: `integer NOT NULL DEFAULT 1`,
  }
  const make = (columns: Readonly<Record<string, string | undefined>> = {}, more = '') => {
    const all = Object.entries({ ...COLUMNS, ...columns }).filter(([, type]) => type !== undefined)
    return dataSource.query(`CREATE TABLE orders (${all.map((one) => one.join(' ')).join(', ')}${more})`)
  }

  it('has notes alone where isolation and values need nothing', async () => {
    await make({ extra: `${text}(10)`, code: `${text}(40)${exact} UNIQUE` })
    const { found, noted } = await verified()
    expect(found).to.deep.equal([])
    expect(noted).to.have.members([
      ...['primaryKey', 'extraIndex', 'addIndex', 'addIndex', 'type due_time'],
      ...(isPostgres
        ? ['collation account_id', 'collation title', 'collation code', 'collation customer_id'].slice(1)
        : []),
    ])
  })

  for (const type of isPostgres
    ? ['smallint', 'bigint']
    : ['tinyint', 'smallint', 'mediumint', 'bigint', 'smallint(4)'])
    it(`keeps whole numbers in a ${type}`, async () => {
      await make({ revision: `${type} NOT NULL DEFAULT 1` })
      expect((await verified()).found).to.deep.equal([])
    })

  it('needs no column for what was deleted together', async () => {
    const time = isPostgres ? 'timestamptz' : 'datetime(6)'
    const columns = `id integer PRIMARY KEY, deleted_at ${time} NULL`
    await dataSource.query(`CREATE TABLE shelves (${columns})`)
    await dataSource.query(`CREATE TABLE books (${columns}, shelf_id integer NOT NULL)`)
    try {
      const found = await schemaComparison([Shelf, Book])(liveSchemaOf(dataSource))
      expect(found.map((one) => differenceText(one))).to.deep.equal([])
    } finally {
      await dataSource.query('DROP TABLE books')
      await dataSource.query('DROP TABLE shelves')
    }
  })

  it('says on which relation to declare that a reference is required', async () => {
    await dataSource.query('CREATE TABLE shelves (id integer PRIMARY KEY, delete_time timestamp NULL)')
    try {
      await dataSource.query(
        'CREATE TABLE covers (id integer PRIMARY KEY, shelf_id integer NOT NULL REFERENCES shelves (id))',
      )
      const found = await schemaComparison([Shelf, Cover])(liveSchemaOf(dataSource))
      const details = found.filter(({ column }) => column === 'shelf_id').map(({ detail }) => detail)
      expect(details).to.deep.equal(['declare @ManyToOne(…, { nullable: false }) on shelf'])
    } finally {
      await dataSource.query('DROP TABLE IF EXISTS covers')
      await dataSource.query('DROP TABLE shelves')
    }
  })

  it('keeps bytes in a type for shorter ones', async () => {
    await dataSource.query('DROP TABLE IF EXISTS scans')
    const types = isPostgres ? ['bytea'] : ['blob', 'mediumblob', 'tinyblob', 'varbinary(20)']
    for (const type of types) {
      await dataSource.query(`CREATE TABLE scans (id integer PRIMARY KEY, image ${type} NOT NULL)`)
      expect(await schemaComparison([Scan])(liveSchemaOf(dataSource)), type).to.deep.equal([])
      await dataSource.query('DROP TABLE scans')
    }
  })

  it('has no note of a key without the tenant where the database mints it', async () => {
    const minted = isPostgres ? 'GENERATED BY DEFAULT AS IDENTITY' : 'AUTO_INCREMENT'
    await dataSource.query(
      `CREATE TABLE slips (id integer ${minted} PRIMARY KEY, account_id ${text}(40)${exact} NOT NULL)`,
    )
    try {
      const noted: string[] = []
      const compare = schemaComparison([Slip], { note: ({ kind }) => noted.push(kind) })
      expect(await compare(liveSchemaOf(dataSource))).to.deep.equal([])
      expect(noted).to.not.include('primaryKey')
    } finally {
      await dataSource.query('DROP TABLE slips')
    }
  })

  for (const [name, columns, wrong] of [
    ['lacks a column', { title: undefined }, ['addColumn title']],
    ['has a column of another type', { title: 'integer NOT NULL' }, ['type title']],
    [
      'has a column that takes NULL, against the entity',
      { title: `${text}(80)${exact}` },
      ['nullable title'],
    ],
    [
      'has a column that takes no NULL, against the entity',
      { code: `${text}(40)${exact} NOT NULL` },
      ['nullable code'],
    ],
    ['has a key that is not unique', { id: 'integer NOT NULL' }, ['primaryKey']],
    ['requires a column that is not in the model', { extra: 'integer NOT NULL' }, ['extraColumn extra']],
    [
      'computes a column that the model writes',
      { title: `${text}(80) GENERATED ALWAYS AS ('x') STORED` },
      ['generated title'],
    ],
  ] as const)
    it(`differs where it ${name}`, async () => {
      await make(columns)
      expect((await verified()).found).to.deep.equal(wrong)
    })

  const customers = async (key: string) => {
    await dataSource.query('DROP TABLE IF EXISTS customers')
    await dataSource.query(
      `CREATE TABLE customers (id ${text}(40)${exact} NOT NULL, account_id ${text}(40)${exact} NOT NULL, PRIMARY KEY (${key}))`,
    )
  }

  it('has a note where the delete of a row reaches those of other tenants', async () => {
    const alone = 'FOREIGN KEY (customer_id) REFERENCES customers (id)'
    for (const [foreignKey, isNoted] of [
      [alone, false],
      [`${alone} ON DELETE RESTRICT`, false],
      [`${alone} ON DELETE CASCADE`, true],
      [`${alone} ON DELETE SET NULL`, true],
    ] as const) {
      await dataSource.query('DROP TABLE IF EXISTS orders')
      await customers('id')
      await make({}, `, CONSTRAINT of_customer ${foreignKey}`)
      const { found, noted, notes } = await verified()
      expect(found).to.deep.equal([])
      expect(noted.includes('foreignKeyWithoutTenant'), foreignKey).to.equal(isNoted)
      if (foreignKey.endsWith('CASCADE'))
        expect(notes.find(({ kind }) => kind === 'foreignKeyWithoutTenant')).to.deep.equal({
          kind: 'foreignKeyWithoutTenant',
          table: 'orders',
          text: 'the foreign key of_customer of orders is (customer_id) → customers (id) ON DELETE CASCADE, without the tenant',
          detail:
            'a delete of the referenced row also removes the rows of other tenants that refer to it: add the tenant column to the key, or use ON DELETE RESTRICT',
        })
    }
    await dataSource.query('DROP TABLE IF EXISTS orders')
    await customers('account_id, id')
    await make(
      {},
      ', FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id) ON DELETE CASCADE',
    )
    expect((await verified()).noted).not.to.include('foreignKeyWithoutTenant')
    await dataSource.query('DROP TABLE orders')
    await dataSource.query('DROP TABLE customers')
  })

  it('has notes about missing unique indexes that say what is unique without them', async () => {
    await make()
    const notes: TableNote[] = []
    await schemaComparison([Order, Part], { note: (note) => notes.push(note) })(liveSchemaOf(dataSource))
    const details = notes.flatMap(({ kind, detail }) => (kind === 'addIndex' ? [detail] : []))
    expect(details).to.have.members([
      'nothing enforces that its values are unique',
      '(id) alone is unique; lists, and foreign keys of tenant and reference, use it',
    ])
  })

  it('differs where the tenant is compared loosely', async () => {
    if (isPostgres)
      await dataSource.query(
        `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
      )
    await make({ account_id: `${text}(40) ${isPostgres ? 'COLLATE loose' : loose} NOT NULL` })
    expect((await verified()).found).to.deep.equal(['collation account_id'])
  })

  it('holds times of UTC where the column has no zone', async () => {
    await make()
    const orders = new (repositoryOf(Order))(dataSource)
    const dueTime = new Date('2026-07-01T12:30:00Z')
    await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
      expect((await orders.create({ id: 1, title: 'a', dueTime })).dueTime).to.deep.equal(dueTime)
      expect((await orders.list({ filter: 'due_time = "2026-07-01T12:30:00Z"' })).items).to.have.length(1)
      expect((await orders.list({ orderBy: 'due_time' })).items[0]?.dueTime).to.deep.equal(dueTime)
    })
    const [row] = await dataSource.query<{ t: string }[]>(
      `SELECT ${isPostgres ? 'due_time::text' : 'CAST(due_time AS CHAR)'} AS t FROM orders`,
    )
    expect(row?.t).to.equal('2026-07-01 12:30:00')
  })

  it('may be missing, which is a difference', async () => {
    expect((await verified()).found).to.deep.equal(['noTable'])
  })

  it('has a computed column where that is declared', async () => {
    await make({ revision: 'integer GENERATED ALWAYS AS (id + 1) STORED' })
    expect((await verified()).found).to.deep.equal([])
  })

  it('tells how many rows have no tenant', async () => {
    await make({ account_id: `${text}(40)${exact}` })
    await dataSource.query(
      "INSERT INTO orders (id, account_id, title) VALUES (1, 'acme', 'a'), (2, NULL, 'b'), (3, NULL, 'c')",
    )
    const { found, notes } = await verified()
    expect(found).to.deep.equal([])
    const [rows] = notes.filter(({ kind }) => kind === 'rowsWithoutTenant')
    expect(rows).to.include({ table: 'orders', column: 'account_id', rows: 2 })
    expect(rows?.text).to.equal('orders has 2 rows without a tenant among the 100,000 with the last keys')
    await dataSource.query('CREATE INDEX orders_account ON orders (account_id)')
    expect((await verified()).notes.map((one) => one.text)).to.include('orders has 2 rows without a tenant')
    expect(notes.map(({ kind, column }) => `${kind} ${column}`)).to.include('nullable account_id')
  })

  it('gets the tenant of its rows by the trigger of the guide', async () => {
    await make({ account_id: `${text}(40)${exact}` })
    await dataSource.query('DROP TABLE IF EXISTS customers')
    await dataSource.query(
      `CREATE TABLE customers (id ${text}(40)${exact} PRIMARY KEY, account_id ${text}(40)${exact} NOT NULL)`,
    )
    await dataSource.query("INSERT INTO customers VALUES ('c1', 'acme'), ('c2', 'other')")
    await dataSource.query("INSERT INTO orders (id, title, customer_id) VALUES (1, 'before', 'c1')")
    const guide = readFileSync(join(root, 'docs/guides/existing-tables.md'), 'utf8')
    const [postgres = '', mysql = ''] = [...guide.matchAll(/```sql\n(.*?)```/gs)].map(([, block]) => block)
    if (isPostgres) await dataSource.query(postgres)
    else
      for (const statement of mysql.split(/;\n/))
        if (statement.trim() !== '') await dataSource.query(statement)
    await dataSource.query(
      "INSERT INTO orders (id, title, customer_id) VALUES (2, 'after', 'c1'), (3, 'of other', 'c2'), (4, 'of nobody', NULL)",
    )
    const orders = new (repositoryOf(Order))(dataSource)
    await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
      const made = await orders.create({ id: 5, title: 'ours', customerId: 'c2' })
      expect(made).to.include({ accountId: 'acme', revision: 1 })
      expect((await orders.list({})).items.map(({ id }) => id)).to.deep.equal([1, 2, 5])
    })
    expect((await verified()).notes.find(({ kind }) => kind === 'rowsWithoutTenant')).to.include({ rows: 1 })
    await dataSource.query("UPDATE orders SET customer_id = 'c1' WHERE id = 4")
    await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
      expect((await orders.get(4)).title).to.equal('of nobody')
    })
  })

  it('leaves the names of fields out of conflicts, whatever its indexes are called', async () => {
    await make({}, isPostgres ? ', CONSTRAINT orders_code UNIQUE (code)' : ', UNIQUE orders_code (code)')
    const orders = new (repositoryOf(Order))(dataSource)
    const make1 = (tenant: string, id: number) =>
      RequestContext.as({ tenant, subject: 'ada' }, () => orders.create({ id, title: 'x', code: 'same' }))
    await make1('acme', 1)
    const refused = await make1('other', 2).catch((error: unknown) => error)
    expect(refused).to.deep.include({ code: 'ALREADY_EXISTS', fields: [] })
  })
})
