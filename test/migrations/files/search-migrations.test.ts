import { expect } from 'chai'
import { searchMigrations, type SearchTable } from '../../../lib/migrations/files/search-migrations.js'

const WIDGETS: SearchTable = {
  table: 'widgets',
  vector: `to_tsvector('simple'::regconfig, COALESCE("a", ''))`,
}
const NOTES: SearchTable = { table: 'notes', vector: `to_tsvector('simple'::regconfig, COALESCE("b", ''))` }
const CHANGED: SearchTable = { ...WIDGETS, vector: `to_tsvector('english'::regconfig, COALESCE("a", ''))` }

const ALLOWED =
  '-- ashlar:allow adding-search-vector\n' +
  '-- the table is written anew under a lock: on a large one in a quiet hour, with a longer statement timeout\n'

describe('searchMigrations', () => {
  it('keeps committed files that do not allow what they do yet', () => {
    const files = Object.entries(searchMigrations([WIDGETS], {}))
    const committed = Object.fromEntries(files.map(([name, sql]) => [name, sql.replace(ALLOWED, '')]))
    expect(searchMigrations([WIDGETS], committed)).to.deep.equal(committed)
    expect(Object.keys(searchMigrations([CHANGED], committed))[0]).to.equal(
      '9003_widgets_search_vector.up.sql',
    )
  })

  it('writes the specified four files', () => {
    expect(searchMigrations([WIDGETS], {})).to.deep.equal({
      '9001_widgets_search_vector.up.sql': `${ALLOWED}ALTER TABLE "widgets" ADD COLUMN "search_vector" tsvector GENERATED ALWAYS AS (${WIDGETS.vector}) STORED;\n`,
      '9001_widgets_search_vector.down.sql': 'ALTER TABLE "widgets" DROP COLUMN IF EXISTS "search_vector";\n',
      '9002_widgets_search_gin.up.sql':
        'CREATE INDEX CONCURRENTLY "widgets_search_vector_gin" ON "widgets" USING gin ("search_vector");\n',
      '9002_widgets_search_gin.down.sql': 'DROP INDEX CONCURRENTLY IF EXISTS "widgets_search_vector_gin";\n',
    })
  })

  it('numbers tables in the order of their names, whatever order they come in', () => {
    const files = searchMigrations([WIDGETS, NOTES], {})
    expect(Object.keys(files).sort()[0]).to.equal('9001_notes_search_vector.down.sql')
    expect(searchMigrations([NOTES, WIDGETS], {})).to.deep.equal(files)
  })

  it('is idempotent: what is committed comes back byte for byte', () => {
    const committed = searchMigrations([WIDGETS, NOTES], {})
    expect(searchMigrations([WIDGETS, NOTES], committed)).to.deep.equal(committed)
  })

  it('a new table takes the next free pair, and nobody else moves', () => {
    const committed = searchMigrations([WIDGETS], {})
    const files = searchMigrations([WIDGETS, NOTES], {
      ...committed,
      '0002_notes.up.sql': 'CREATE TABLE notes ()',
    })
    expect(Object.keys(files).filter((name) => name.includes('.up.'))).to.have.members([
      '9001_widgets_search_vector.up.sql',
      '9002_widgets_search_gin.up.sql',
      '9003_notes_search_vector.up.sql',
      '9004_notes_search_gin.up.sql',
    ])
  })

  it('a changed vector drops and adds the column in a new pair, and its way back restores the old one', () => {
    const committed = searchMigrations([WIDGETS], {})
    const files = searchMigrations([CHANGED], committed)
    expect(files['9003_widgets_search_vector.up.sql']).to.equal(
      `${ALLOWED}ALTER TABLE "widgets" DROP COLUMN IF EXISTS "search_vector", ADD COLUMN "search_vector" tsvector GENERATED ALWAYS AS (${CHANGED.vector}) STORED;\n`,
    )
    expect(files['9003_widgets_search_vector.down.sql']).to.include(WIDGETS.vector).and.include('USING gin')
    expect(searchMigrations([CHANGED], { ...committed, ...files })).to.deep.equal(files)
  })

  describe('of a table whose entity names a schema', () => {
    const INVENTORY: SearchTable = { ...WIDGETS, schema: 'inventory' }
    const ODD: SearchTable = { ...WIDGETS, schema: 'The "odd".one' }
    const upOf = (files: Readonly<Record<string, string>>, name: string) => files[`${name}.up.sql`]

    it('names the schema of the table, and of the index where it is dropped', () => {
      const files = searchMigrations([INVENTORY], {})
      expect(upOf(files, '9001_widgets_search_vector')).to.match(/^ALTER TABLE "inventory"."widgets" ADD/m)
      expect(upOf(files, '9002_widgets_search_gin')).to.include('ON "inventory"."widgets" USING')
      expect(files['9001_widgets_search_vector.down.sql']).to.match(/^ALTER TABLE "inventory"."widgets" DROP/)
      expect(files['9002_widgets_search_gin.down.sql']).to.equal(
        'DROP INDEX CONCURRENTLY IF EXISTS "inventory"."widgets_search_vector_gin";\n',
      )
      expect(upOf(searchMigrations([ODD], {}), '9001_widgets_search_vector')).to.include(
        'ALTER TABLE "The ""odd"".one"."widgets" ',
      )
    })

    for (const tables of [
      [INVENTORY],
      [INVENTORY, WIDGETS],
      [WIDGETS, INVENTORY, ODD],
      [{ ...INVENTORY, table: 'Odd widgets/1' }],
    ])
      it(`is idempotent beside others of its name: ${tables.map(({ schema = '' }) => `${schema}.widgets`).join(', ')}`, () => {
        const committed = searchMigrations(tables, {})
        expect(Object.keys(committed)).to.have.lengthOf(4 * tables.length)
        expect(searchMigrations(tables.toReversed(), committed)).to.deep.equal(committed)
        expect(Object.keys(committed).filter((name) => !/^\d{4}_[\w-]+\.(up|down)\.sql$/.test(name))).to.be
          .empty
      })

    it('changes the vector of one of two, and leaves the other alone', () => {
      const committed = searchMigrations([WIDGETS, INVENTORY], {})
      const files = searchMigrations([WIDGETS, { ...INVENTORY, vector: CHANGED.vector }], committed)
      expect(upOf(files, '9001_widgets_search_vector')).to.equal(
        upOf(committed, '9001_widgets_search_vector'),
      )
      expect(upOf(files, '9005_widgets_search_vector')).to.include('"inventory"').and.include(CHANGED.vector)
      expect(files['9005_widgets_search_vector.down.sql']).to.include(INVENTORY.vector)
    })

    it('keeps the pair that was made before the entity named the schema', () => {
      const committed = searchMigrations([WIDGETS], {})
      expect(searchMigrations([INVENTORY], committed)).to.deep.equal(committed)
    })

    it('makes a pair for a table that moved to another schema', () => {
      const files = searchMigrations([ODD], searchMigrations([INVENTORY], {}))
      expect(upOf(files, '9003_widgets_search_vector')).to.match(
        /^ALTER TABLE "The ""odd"".one"."widgets" ADD/m,
      )
    })
  })
})
