import { expect } from 'chai'
import fc from 'fast-check'
import { compareBy } from '../../../lib/persistence/memory/compare-by.js'
import { toTest } from '../../../lib/persistence/memory/filter-test.js'
import { parseFilterPlan } from '../../../lib/persistence/query/filter.js'
import { keysetPredicate } from '../../../lib/persistence/query/keyset.js'
import { type OrderTerm, parseOrderTerms } from '../../../lib/persistence/query/order-by.js'
import { toOrderBy } from '../../../lib/persistence/dialects/to-order-by.js'
import { decodePageToken, encodeKeyset } from '../../../lib/persistence/query/page-token.js'
import { toPredicate } from '../../../lib/persistence/dialects/to-predicate.js'
import { drill } from '../../support/drill.js'
import { DATABASES, type SpecimenDatabase } from './databases.js'
import { everyComparison, filters } from './specimen-filters.js'
import { COLUMNS, type Row, SORTABLE, everyValue, read, rows } from './specimen-rows.js'

const scope = { resource: 'specimen', tenant: 't', filter: '', orderBy: '', search: '', showDeleted: false }

/** Every sortable column in a random order and direction; the id last, so that no two rows are equal. */
const orders = fc
  .subarray(
    SORTABLE.filter((name) => name !== 'id'),
    { minLength: 0, maxLength: 3 },
  )
  .chain((names) =>
    fc.tuple(fc.shuffledSubarray(names, { minLength: names.length }), directions(names.length + 1)),
  )
  .map(([names, drawn]) => [...names, 'id'].map((name, i) => `${name} ${drawn[i]}`).join(', '))

const directions = (count: number): fc.Arbitrary<string[]> =>
  fc.oneof(
    fc.array(fc.constantFrom('asc', 'desc'), { minLength: count, maxLength: count }),
    fc.constantFrom('asc', 'desc').map((all) => Array.from({ length: count }, () => all)),
  )

const valuesOf = (row: Row, terms: readonly OrderTerm[]): unknown[] =>
  terms.map(({ column }) => read(row, column))

for (const [name, open] of DATABASES) {
  describe(`filters and orders on memory and ${name}`, () => {
    let database: SpecimenDatabase

    before(async function () {
      const opened = await open()
      if (opened === undefined) return this.skip()
      database = opened
    })
    after(() => database?.close())

    /** Compares the rows that a filter finds in the database with those that pass its test. */
    const agree = async (filter: string, table: readonly Row[]): Promise<void> => {
      const plan = parseFilterPlan(filter, COLUMNS)
      if (plan === undefined) return expect.fail('the filter is blank')
      const params: unknown[] = []
      const where = toPredicate(plan, database.dialect, params)
      const expected = table.filter(toTest(plan, read)).map(({ id }) => id)
      expect(await database.ids(where, params), filter).to.have.members(expected)
    }

    it('compare every value with every other alike', async () => {
      await database.fill(everyValue)
      for (const filter of everyComparison) await agree(filter, everyValue)
    })

    it('match the same rows', async () => {
      await fc.assert(
        fc.asyncProperty(
          rows(25),
          fc.array(filters, { minLength: 20, maxLength: 20 }),
          async (table, asked) => {
            await database.fill(table)
            for (const filter of asked) await agree(filter, table)
          },
        ),
        { numRuns: drill(15, 500) },
      )
    })

    it('sort the same way', async () => {
      await fc.assert(
        fc.asyncProperty(
          rows(30),
          fc.array(orders, { minLength: 10, maxLength: 10 }),
          async (table, asked) => {
            await database.fill(table)
            for (const orderBy of asked) {
              const terms = parseOrderTerms(orderBy, COLUMNS)
              const expected = [...table].sort(compareBy(terms, read)).map(({ id }) => id)
              const found = await database.ids('1 = 1', [], toOrderBy(terms, database.dialect))
              expect(found, orderBy).to.deep.equal(expected)
            }
          },
        ),
        { numRuns: drill(10, 300) },
      )
    })

    it('page through every row once, whatever the order', async () => {
      await fc.assert(
        fc.asyncProperty(rows(17), orders, fc.integer({ min: 1, max: 6 }), async (table, orderBy, size) => {
          await database.fill(table)
          const terms = parseOrderTerms(orderBy, COLUMNS)
          const sorted = [...table].sort(compareBy(terms, read))
          const walked: string[] = []
          let token = ''
          for (;;) {
            const cursor = decodePageToken(token, terms, scope)
            const plan = cursor?.kind === 'keyset' ? keysetPredicate(terms, cursor.values) : keysetless
            const params: unknown[] = []
            const where = toPredicate(plan, database.dialect, params)
            const page = await database.ids(where, params, toOrderBy(terms, database.dialect), size)
            const inMemory = sorted.filter(toTest(plan, read)).slice(0, size)
            expect(page, orderBy).to.deep.equal(inMemory.map(({ id }) => id))
            walked.push(...page)
            const last = inMemory.at(-1)
            if (last === undefined || walked.length > table.length) break
            token = encodeKeyset(valuesOf(last, terms), terms, scope)
          }
          expect(walked, orderBy).to.deep.equal(sorted.map(({ id }) => id))
        }),
        { numRuns: drill(60, 2000) },
      )
    })
  })
}

const keysetless = { kind: 'and', nodes: [] } as const
