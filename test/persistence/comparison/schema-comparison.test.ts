import { expect } from 'chai'
import { type Dialect, migrate, type Migrator, searchMigrations } from '../../../lib/migrations/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { schemaComparison, searchTables, tableMigrations } from '../../../lib/persistence/index.js'
import { subjectEntities } from '../../conformance/repository/subject.js'
import { Article, Contact } from '../../support/entities/contacts.js'
import { Country, Milestone, Project } from '../../support/entities/family.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { type Alteration, UNHARMFUL, valuesOf } from '../../migrations/alteration.js'
import { MYSQL_ALTERATIONS } from '../../migrations/mysql/alterations.js'
import { POSTGRES_ALTERATIONS } from '../../migrations/postgres/alterations.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'

const TABLES = { Specimen, Note }
const TOGETHER = { Country, Milestone, Project }
const SEARCHED = { Article, Contact }

/** The files of `migrate new` for these entities, and those of their search. */
function filesOf(exports: Readonly<Record<string, unknown>>, dialect: Dialect): Record<string, string> {
  const made = tableMigrations(exports).map((table, at) =>
    file(`000${at + 2}_${table.table}`, table.sqlFor(dialect).up, table.sqlFor(dialect).down),
  )
  return Object.assign({}, ...made, searchMigrations(searchTables(exports).tables, {})) as Record<
    string,
    string
  >
}

const verified = (migrator: Migrator, exports: Readonly<Record<string, unknown>>) =>
  migrator.verify(schemaComparison(exports))

/** Without the versions that are not applied. */
const ofTables = (differences: Awaited<ReturnType<Migrator['verify']>>) =>
  differences.filter(({ kind }) => kind !== 'pending')

onEachEngine('a live schema beside its entities', (database, dialect) => {
  const compare = async (exports: Readonly<Record<string, unknown>> = TABLES) =>
    verified(migrate({ url: database().url, files: filesOf(exports, dialect) }), exports)
  const made = async (exports: Readonly<Record<string, unknown>> = TABLES) =>
    migrate({ url: database().url, files: filesOf(exports, dialect) }).up()

  it('is equal when the files of migrate new made it, whatever kinds of fields there are', async () => {
    await made()
    expect(await compare()).to.deep.equal([])
  })

  it('is equal when createTables made it', async () => {
    const query = (text: string, values?: readonly unknown[]) => database().rows(text, values)
    await createTables({ query } as never, subjectEntities, dialect === 'mysql' ? 'mariadb' : dialect)
    expect(ofTables(await compare())).to.deep.equal([])
  })

  if (dialect === 'mysql') {
    // MariaDB lacks the collation of MySQL 8's name; its own orders the same.
    const asMariadb = (text: string) => text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin')

    it('is equal when createTables for MySQL 8 made it', async () => {
      const query = (text: string) => database().rows(asMariadb(text))
      await createTables({ query } as never, subjectEntities, 'mysql')
      expect(ofTables(await compare())).to.deep.equal([])
    })

    it('is equal when it has what MySQL 8 reads in the files of migrate new', async () => {
      const asMysql = (text: string) =>
        text.replaceAll(/\/\*M!.*?\*\//g, '').replaceAll(/\/\*!80000 (.*?) \*\//g, '$1')
      for (const { sqlFor } of tableMigrations(TABLES)) {
        const { up } = sqlFor('mysql')
        expect(asMysql(up)).to.match(/COLLATE +utf8mb4_0900_bin;\n$/)
        await database().rows(asMariadb(asMysql(up)))
      }
      expect(ofTables(await compare())).to.deep.equal([])
    })
  }

  const alterations: readonly Alteration[] = dialect === 'postgres' ? POSTGRES_ALTERATIONS : MYSQL_ALTERATIONS
  for (const { name, sql, found } of alterations)
    it(`is told apart: ${name}`, async () => {
      await made()
      for (const statement of sql) await database().rows(statement)
      expect((await compare()).map(valuesOf)).to.deep.equal(found)
    })

  it('is told apart: a table of rows that are deleted together lacks delete_id', async () => {
    await made(TOGETHER)
    expect(await compare(TOGETHER)).to.deep.equal([])
    for (const table of ['milestones', 'projects'])
      await database().rows(`ALTER TABLE ${table} DROP COLUMN delete_id`)
    const found = { kind: 'addColumn', column: 'delete_id', next: 'expand' }
    expect((await compare(TOGETHER)).map(valuesOf)).to.deep.equal([
      { ...found, table: 'milestones' },
      { ...found, table: 'projects' },
    ])
  })

  for (const { name, sql } of UNHARMFUL[dialect])
    it(`is equal all the same: ${name}`, async () => {
      await made()
      for (const statement of sql) await database().rows(statement)
      expect(await compare()).to.deep.equal([])
    })
})

onEachEngine(
  'a stored search vector beside its entity',
  (database) => {
    const files = filesOf(SEARCHED, 'postgres')
    const migrator = () => migrate({ url: database().url, files })
    const verify = () => verified(migrator(), SEARCHED)

    it('is equal when search generate made it', async () => {
      await migrator().up()
      expect(await verify()).to.deep.equal([])
    })

    const ofVector = (kind: string) => ({
      ...{ kind, table: 'contacts', column: 'search_vector', next: 'search' },
    })
    const vector = 'tsvector GENERATED ALWAYS AS'
    const cases: readonly Alteration[] = [
      {
        name: 'the vector is missing',
        sql: ['ALTER TABLE contacts DROP COLUMN search_vector'],
        found: [ofVector('noVector')],
      },
      {
        name: 'its index is missing',
        sql: ['DROP INDEX contacts_search_vector_gin'],
        found: [ofVector('noVectorIndex')],
      },
      {
        name: 'the index is of another kind',
        sql: [
          'DROP INDEX contacts_search_vector_gin',
          'CREATE INDEX contacts_search_vector_gin ON contacts USING gist (search_vector)',
        ],
        found: [ofVector('noVectorIndex')],
      },
      {
        name: 'nobody fills the vector',
        sql: ['ALTER TABLE contacts ALTER COLUMN search_vector DROP EXPRESSION'],
        found: [ofVector('otherVector')],
      },
      {
        name: 'the vector is of one source only',
        sql: [
          'ALTER TABLE contacts DROP COLUMN search_vector',
          `ALTER TABLE contacts ADD COLUMN search_vector ${vector} (to_tsvector('simple'::regconfig, name)) STORED`,
          'CREATE INDEX contacts_search_vector_gin ON contacts USING gin (search_vector)',
        ],
        found: [ofVector('outdatedVector')],
      },
    ]
    for (const { name, sql, found } of cases)
      it(`is told apart: ${name}`, async () => {
        await migrator().up()
        for (const statement of sql) await database().rows(statement)
        expect((await verify()).map(valuesOf)).to.deep.equal(found)
      })

    it('leaves nothing behind, and is believed where no temporary table may be made', async () => {
      await migrator().up()
      const [before] = await database().rows('SELECT count(*) AS n FROM pg_class')
      await verify()
      await database().rows(`ALTER DATABASE ${database().name} SET default_transaction_read_only = on`)
      expect(await verify()).to.deep.equal([])
      expect(await database().rows('SELECT count(*) AS n FROM pg_class')).to.deep.equal([before])
    })
  },
  { dialects: ['postgres'] },
)
