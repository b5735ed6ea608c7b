import { expect } from 'chai'
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaModel, type SchemaVersion } from '../../../lib/persistence/index.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'

/** A key that the database generates, and texts; both wider in the second version. */
function lampOf(version: 1 | 2) {
  class Lamp {
    @PrimaryGeneratedColumn(version === 1 ? {} : { type: 'bigint' }) id!: number
    @Column({ length: version * 20 }) title!: string
    @Column({ nullable: version === 2 }) lit!: Date
  }
  if (version === 2) Reflect.defineMetadata('design:type', BigInt, Lamp.prototype, 'id')
  Entity('lamps')(Lamp)
  Resource({ shared: true })(Lamp)
  return { Lamp }
}

onEachEngine('a column that a contract changes', (database, dialect) => {
  const files: Record<string, string> = {}
  before(() => {
    for (const name of Object.keys(files)) Reflect.deleteProperty(files, name)
  })
  const migrator = () => migrate({ url: database().url, files })
  const ship = (versions: readonly SchemaVersion[]) => {
    for (const { what, up, down } of versions) {
      const number = Object.keys(files).length / 2 + 2
      Object.assign(files, file(`${String(number).padStart(4, '0')}_${what}`, up, down))
    }
    return migrator().up()
  }
  const changes = async (version: 1 | 2) =>
    (await migrator().diff(schemaModel(Object.values(lampOf(version))))).changes

  it('keeps the rest of its definition, both ways', async () => {
    await ship((await changes(1)).expand)
    if (dialect !== 'mysql') return
    const exact = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin'
    await database().rows(
      `ALTER TABLE lamps MODIFY title varchar(20) ${exact} NOT NULL DEFAULT 'x''y' COMMENT 'it''s \\\\ kept' CHECK (char_length(title) > 1)`,
    )
    await database().rows(
      `ALTER TABLE lamps MODIFY lit datetime(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6) INVISIBLE`,
    )
    const definitions = () =>
      database().rows(
        `SELECT column_name AS name, column_type AS type, extra, column_default AS fallback, column_comment AS comment, collation_name AS collated,
           (SELECT check_clause FROM information_schema.check_constraints c WHERE c.constraint_schema = database() AND c.table_name = 'lamps' AND c.constraint_name = column_name) AS rule
         FROM information_schema.columns WHERE table_schema = database() AND table_name = 'lamps' ORDER BY column_name`,
      )
    const old = await definitions()
    const { contract } = await changes(2)
    await ship(contract)
    const types: Readonly<Record<string, object>> = {
      id: { type: 'bigint(20)' },
      title: { type: 'varchar(40)' },
    }
    const expected = old.map((row) => ({ ...row, ...types[String(row['name'])] }))
    expect(await definitions()).to.deep.equal(expected)
    await database().rows(`INSERT INTO lamps (title) VALUES ('ab')`)
    await migrator().down(2)
    expect(await definitions()).to.deep.equal(old)
    await database().rows(`INSERT INTO lamps (title) VALUES ('ab')`)
    expect(await database().rows('SELECT id FROM lamps ORDER BY id')).to.have.length(2)
  })
})

const EXPRESSIONS: Readonly<Record<string, string>> = {
  call: "concat('a', 'b')",
  sum: '1 + 2',
  collated: "'a' collate utf8mb4_bin",
  product: '(1 + 2) * (3 + 4)',
  caller: 'current_user()',
  other: '`sum`',
  chosen: "case when `sum` = '3' then 'a' else 'b' end",
  text: "'case'",
}

/** Texts with these defaults; all wider in the second version. */
function lampsOf(version: 1 | 2) {
  class Lamp {
    @PrimaryGeneratedColumn() id!: number
  }
  for (const name of Object.keys(EXPRESSIONS)) {
    Reflect.defineMetadata('design:type', String, Lamp.prototype, name)
    Column({ length: version * 100 })(Lamp.prototype, name)
  }
  Entity('lamps')(Lamp)
  Resource({ shared: true })(Lamp)
  return { Lamp }
}

onEachEngine('a default that is an expression', (database, dialect) => {
  it('is kept where its column changes', async () => {
    if (dialect !== 'mysql') return
    const files: Record<string, string> = {}
    const ship = async (version: 1 | 2) => {
      const { changes } = await migrate({ url: database().url, files }).diff(
        schemaModel(Object.values(lampsOf(version))),
      )
      for (const { what, up, down } of [...changes.expand, ...changes.contract])
        Object.assign(
          files,
          file(`${String(Object.keys(files).length / 2 + 2).padStart(4, '0')}_${what}`, up, down),
        )
      await migrate({ url: database().url, files }).up()
    }
    const defaults = () =>
      database().rows(
        `SELECT column_name AS name, column_default AS fallback FROM information_schema.columns WHERE table_schema = database() AND table_name = 'lamps' ORDER BY column_name`,
      )
    await ship(1)
    for (const [name, expression] of Object.entries(EXPRESSIONS))
      await database().rows(`ALTER TABLE lamps ALTER \`${name}\` SET DEFAULT (${expression})`)
    const old = await defaults()
    const first = Object.keys(files).length
    await ship(2)
    expect(Object.keys(files).length).to.be.above(first)
    expect(await defaults()).to.deep.equal(old)
    await migrate({ url: database().url, files }).down((Object.keys(files).length - first) / 2)
    expect(await defaults()).to.deep.equal(old)
  })
})
