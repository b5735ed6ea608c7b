import { expect } from 'chai'
import fc from 'fast-check'
import { type Dialect, lintFiles, migrate } from '../../../lib/migrations/index.js'
import { type LiveSchema, schemaComparison, schemaModel } from '../../../lib/persistence/index.js'
import type { SchemaVersion } from '../../../lib/persistence/index.js'
import { freshDatabase, type FreshDatabase } from '../../migrations/fresh-database.js'
import { drill } from '../../support/drill.js'
import { serviceUrl } from '../../support/running/services.js'
import { entityOf, type Model, Owner, pairs, type Property } from './random-model.js'

const RUNS = drill(15, 500)
const LONGEST_MS = drill(300_000, 14_400_000)

/** What a property holds in a row, as SQL of both engines. */
function valueOf({ kind, width }: Property, row: string, dialect: Dialect): string {
  switch (kind) {
    case 'text':
      return `'${row} it''s'`
    case 'number':
      // A new image writes what the old type takes, too, until the contract.
      return width === 0 || !row.startsWith('r') ? '2147483647' : '9007199254740993'
    case 'flag':
      return dialect === 'postgres' ? 'TRUE' : '1'
    case 'time':
      return `'2024-02-29 12:34:56.789012'`
    case 'tags':
      return `'{"a":"b"}'`
  }
}

/** The row that an image of this model writes. It knows no other columns. */
function insert(model: Model, row: string, dialect: Dialect): string {
  const values: [string, string][] = [
    ['account_id', `'t'`],
    ['id', `'${row}'`],
    ...model.properties.map((one): [string, string] => [one.name, valueOf(one, row, dialect)]),
    ...(model.hasEtag ? [['etag', `'${row}'`] as [string, string]] : []),
    ...(model.hasOwner ? [['owner_id', `'o'`] as [string, string]] : []),
  ]
  return `INSERT INTO things (${values.map(([name]) => name).join(', ')}) VALUES (${values.map(([, value]) => value).join(', ')})`
}

/** The columns of the first model that the second one has too, by their new names; as text, since types may be wider. */
function kept(before: Model, after: Model, dialect: Dialect, now: 'before' | 'after'): string {
  const columns = before.properties.flatMap(({ name }) => {
    const later = after.properties.find((one) => one.name === name || one.renamedFrom === name)
    if (later === undefined) return []
    const column = now === 'before' ? name : later.name
    return [dialect === 'postgres' ? `${column}::text AS c_${name}` : `CAST(${column} AS CHAR) AS c_${name}`]
  })
  const etag = before.hasEtag && after.hasEtag ? ['etag'] : []
  return `SELECT ${['id', ...columns, ...etag].join(', ')} FROM things WHERE id IN ('r1', 'r2', 'r3') ORDER BY id`
}

/** What only somebody who knows the values can do before the contract. */
function fillNulls({ properties }: Model, dialect: Dialect): readonly string[] {
  return properties
    .filter(({ nullable, kind }) => !nullable || kind === 'tags')
    .map((one) => {
      const value = one.kind === 'text' ? 'id' : valueOf(one, 'x', dialect)
      return `UPDATE things SET ${one.name} = ${value} WHERE ${one.name} IS NULL`
    })
}

for (const dialect of ['postgres', 'mysql'] as const)
  describe(`the changes from a random model to another on ${dialect}`, function () {
    this.timeout(LONGEST_MS)
    let database: FreshDatabase
    let scratch: FreshDatabase

    before(async function () {
      const server = serviceUrl(dialect)
      if (server === undefined) return this.skip()
      database = await freshDatabase(server)
      scratch = await freshDatabase(server)
      await migrate({ url: database.url, files: {} }).up()
    })
    after(async () => {
      await database?.drop()
      await scratch?.drop()
    })

    const liveOf = (one: FreshDatabase): LiveSchema => ({
      dialect,
      schema: dialect === 'postgres' ? 'public' : '',
      rows: (text, values = []) => one.rows(withValues(text, values)),
    })

    const changes = async (model: Model) => {
      await scratch.rows('DROP TABLE IF EXISTS things, owners')
      const wanted = schemaModel([entityOf(model), Owner])
      await wanted.make(liveOf(scratch))
      return wanted.changes(await wanted.read(liveOf(database)), await wanted.read(liveOf(scratch)))
    }
    const verify = (model: Model) => schemaComparison([entityOf(model), Owner])(liveOf(database))

    const files: Record<string, string> = {}
    let version = 1
    const apply = async (versions: readonly SchemaVersion[]) => {
      for (const { what, up, down } of versions) {
        const name = `${String(++version).padStart(4, '0')}_${what}`
        files[`${name}.up.sql`] = up
        files[`${name}.down.sql`] = down
      }
      const dangers = (await lintFiles(files, dialect)).filter(({ level }) => level !== 'advice')
      expect(JSON.stringify(dangers), 'lint').to.equal('[]')
      if (versions.length > 0) await migrate({ url: database.url, files }).up()
    }
    const back = async (to: number) => {
      await migrate({ url: database.url, files }).down(to)
      version = to
      for (const name of Object.keys(files)) if (Number(name.slice(0, 4)) > to) delete files[name]
    }

    it('apply, leave what they say, keep the rows, and go back', async () => {
      await fc.assert(
        fc.asyncProperty(pairs, async ([before, after]) => {
          if (version > 1) await back(1)
          await apply((await changes(before)).expand)
          expect(await verify(before), 'the first model').to.deep.equal([])
          const first = version
          await database.rows(`INSERT INTO owners (id) VALUES ('o')`)
          for (const row of ['r1', 'r2', 'r3']) await database.rows(insert(before, row, dialect))
          const rows = await database.rows(kept(before, after, dialect, 'before'))

          const { expand, byHand } = await changes(after)
          await apply(expand)
          const left = await changes(after)
          expect(JSON.stringify(left.expand), 'nothing more to expand').to.equal('[]')
          const named = await verify(after)
          for (const line of named) expect([...left.left, ...left.byHand], 'what is left').to.include(line)
          await database.rows(insert(before, 'old', dialect))
          await database.rows(insert(after, 'new', dialect))
          await database.rows(insert(after, 'new2', dialect))
          expect(await database.rows(kept(before, after, dialect, 'after')), 'rows after').to.deep.equal(rows)

          expect(byHand, 'by hand').to.deep.equal([])
          for (const statement of fillNulls(after, dialect)) await database.rows(statement)
          await apply(left.contract)
          expect(await verify(after), 'the second model').to.deep.equal([])
          const end = await changes(after)
          expect([end.expand, end.contract, end.left, end.byHand], 'nothing is left').to.deep.equal([
            [],
            [],
            [],
            [],
          ])
          expect(await database.rows(kept(before, after, dialect, 'after')), 'rows at last').to.deep.equal(
            rows,
          )

          await back(first)
          expect(await verify(before), 'the first model again').to.deep.equal([])
          expect(await database.rows(kept(before, after, dialect, 'before')), 'rows again').to.deep.equal(
            rows,
          )
        }),
        { numRuns: RUNS, endOnFailure: true },
      )
    })
  })

/** The values are names that the framework wrote. */
function withValues(text: string, values: readonly unknown[]): string {
  let at = 0
  if (values.length === 0) return text
  return text.replaceAll('?', () => {
    const value = values[at++]
    return value === null || value === undefined ? 'NULL' : `'${String(value)}'`
  })
}
