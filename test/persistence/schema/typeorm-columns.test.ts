import { expect } from 'chai'
import { Column, type ColumnOptions, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Internal, Resource, TenantScoped } from '../../../decorators/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { databases, describeOn } from '../../support/databases/backends.js'

type Declared = Readonly<Record<string, readonly [design: unknown, options: ColumnOptions]>>

const POSTGRES: Declared = {
  day: [Date, { nullable: true }],
  at: [Date, { type: 'timestamp', precision: 3, nullable: true }],
  zoned: [Date, { type: 'timestamp with time zone', nullable: true }],
  small: [Number, { type: 'smallint', nullable: true }],
  price: [String, { type: 'decimal', precision: 8, scale: 2, nullable: true }],
  code: [String, { type: 'varchar', length: 20, collation: 'en-x-icu', default: 'a' }],
  plain: [String, { type: 'varchar', nullable: true }],
  fixed: [String, { type: 'char', length: 4, nullable: true }],
  body: [Object, { type: 'json', nullable: true }],
  counts: [Array, { type: 'int', array: true, nullable: true }],
}
const CURRENT = () => 'CURRENT_TIMESTAMP'
const MYSQL: Declared = {
  colours: [Array, { type: 'set', enum: ['red', "o'r"], default: ['red'] }],
  state: [String, { type: 'enum', enum: { On: 'on', Off: 'off' }, default: 'on' }],
  changed: [Date, { type: 'datetime', precision: 0, default: CURRENT, onUpdate: 'CURRENT_TIMESTAMP' }],
  stamped: [Date, { type: 'timestamp', precision: 0, default: CURRENT }],
  small: [Number, { type: 'smallint', unsigned: true, default: 7 }],
  code: [String, { type: 'varchar', length: 20, collation: 'utf8mb4_unicode_ci', default: 'a' }],
  ascii: [String, { type: 'varchar', charset: 'ascii', collation: 'ascii_general_ci', nullable: true }],
  body: [String, { type: 'mediumtext', nullable: true }],
}

const FACTS = {
  postgres: `SELECT column_name AS name, udt_name, character_maximum_length, datetime_precision, numeric_precision,
      numeric_scale, collation_name, column_default, is_nullable
    FROM information_schema.columns WHERE table_name = $1`,
  // Other texts have the collation of the table.
  mysql: `SELECT COLUMN_NAME AS name, COLUMN_TYPE, COLUMN_DEFAULT, EXTRA, IS_NULLABLE,
      IF(COLUMN_NAME IN ('code', 'ascii'), COLLATION_NAME, NULL) AS collation_name
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`,
} as const

const servers = databases.filter(({ name }) => ['postgres', 'mariadb', 'mysql8'].includes(name))

describeOn('columns beside @Internal()', servers, (backend) => {
  it('are created as TypeORM creates them', async () => {
    const engine = backend.name === 'postgres' ? 'postgres' : 'mysql'
    const declared = engine === 'postgres' ? POSTGRES : MYSQL
    const declare = (entity: { readonly prototype: object }, isInternal: boolean) => {
      for (const [property, [design, options]] of Object.entries(declared)) {
        Reflect.defineMetadata('design:type', design, entity.prototype, property)
        Column(options)(entity.prototype, property)
        if (isInternal) Internal()(entity.prototype, property)
      }
    }
    @Entity('plain_things')
    class Plain {
      @PrimaryColumn({ length: 40 }) id!: string
    }
    declare(Plain, false)
    class Thing {
      @PrimaryColumn({ length: 40 }) id!: string
      accountId!: string
    }
    declare(Thing, true)
    TenantScoped()(Thing)
    Entity('things')(Thing)
    Resource()(Thing)
    const opened = await backend.open([Plain])
    const dataSource = opened.dataSource as DataSource
    try {
      await dataSource.synchronize()
      await createTables(dataSource, [Thing], opened.database!.dialect.name)
      const columnsOf = async (table: string) => {
        const rows = (await dataSource.query(FACTS[engine], [table])) as { readonly name: string }[]
        const ours = rows.filter(({ name }) => Object.hasOwn(declared, name))
        return ours.sort((a, b) => (a.name < b.name ? -1 : 1))
      }
      const wanted = await columnsOf('plain_things')
      expect(wanted).to.have.length(Object.keys(declared).length)
      expect(await columnsOf('things')).to.deep.equal(wanted)
    } finally {
      await opened.close()
    }
  })
})
