import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { openSubject, type OpenSubject } from '../conformance/open-subject.js'
import { draft, inAcme } from '../conformance/subject.js'
import { type BackendName, databases, describeOn } from '../support/backends.js'

const isMysql = (name: BackendName) => name === 'mariadb' || name === 'mysql8'
const isSqlite = (name: BackendName) => name === 'sqlite' || name === 'better-sqlite3'

/** SQL of values that another writer may have stored, in ascending order; NULL is none of them. */
const VALUES: readonly (readonly [
  what: string,
  column: string,
  on: (name: BackendName) => boolean,
  values: readonly string[],
])[] = [
  [
    'infinities and NaN in a double',
    'score',
    (name) => name === 'postgres',
    ["'-Infinity'", '-1e300', '0', '1e300', "'Infinity'", "'NaN'"],
  ],
  [
    'infinities and NaN in a float',
    'ratio',
    (name) => name === 'postgres',
    ["'-Infinity'", '0', '3e38', "'Infinity'", "'NaN'"],
  ],
  ['infinities in a double', 'score', isSqlite, ['-9e999', '-1e300', '0', '1e300', '9e999']],
  ['infinities in a float', 'ratio', isSqlite, ['-9e999', '0', '9e999']],
  [
    'times that only PostgreSQL has',
    'due_time',
    (name) => name === 'postgres',
    [
      "'-infinity'",
      "'4001-02-29 00:00:00+00 BC'",
      "'0044-03-15 12:00:00.000001+00 BC'",
      "'0001-01-01'",
      "'0999-12-31 23:59:59.999999'",
      "'1000-01-01'",
      "'2024-02-29 01:02:03.004005'",
      "'2024-02-29 01:02:03.004006'",
      "'9999-12-31 23:59:59.999999'",
      "'12024-02-29'",
      "'200000-01-01'",
      "'infinity'",
    ],
  ],
  [
    'times before our first, and dates of zero',
    'due_time',
    isMysql,
    [
      "'0000-00-00'",
      "'0001-01-01'",
      "'0044-02-29 12:00:00.000001'",
      "'0999-12-31 23:59:59.999999'",
      "'2024-00-00'",
      "'2024-02-29 01:02:03.004005'",
      "'2024-02-29 01:02:03.004006'",
      "'9999-12-31 23:59:59.999999'",
    ],
  ],
  [
    'times in other spellings',
    'due_time',
    isSqlite,
    [
      "'2024-02-29'",
      "'2024-02-29 01:02:03'",
      "'2024-02-29 23:00:00'",
      "'2024-02-29T01:02:03.004005Z'",
      "'2024-02-29T01:02:03.004006Z'",
      "'2024-02-29T01:02:03.004Z'",
      "'2024-02-29T01:02:03Z'",
    ],
  ],
]

describeOn('rows of another writer', databases, ({ name, open }) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject({ name, open, available: () => Promise.resolve(true) })
  })
  beforeEach(() => subject.clear())
  after(() => subject?.close())

  /** Two rows of each value: an order that loses its place repeats or skips one of them. */
  const store = async (column: string, values: readonly string[]) => {
    const dataSource = subject.dataSource as DataSource
    const runner = dataSource.createQueryRunner()
    try {
      if (isMysql(name)) await runner.query("SET SESSION sql_mode = ''")
      for (const [i, value] of [...values, ...values].entries()) {
        const id = `${i < values.length ? 'b' : 'a'}${String(i % values.length).padStart(2, '0')}`
        await subject.specimens.create(draft({ id }))
        await runner.query(`UPDATE specimens SET ${column} = ${value} WHERE id = '${id}'`)
      }
    } finally {
      if (isMysql(name)) await runner.query('SET SESSION sql_mode = DEFAULT')
      await runner.release()
    }
  }
  const walk = async (orderBy: string, pageSize: number) => {
    const seen: string[] = []
    let pageToken = ''
    do {
      const page = await subject.specimens.list({ orderBy, pageSize, pageToken })
      seen.push(...page.items.map(({ id }) => id))
      pageToken = page.nextPageToken
    } while (pageToken !== '' && seen.length < 100)
    return seen
  }

  for (const [what, column, , values] of VALUES.filter(([, , isOn]) => isOn(name)))
    for (const [direction, size] of [
      ['asc', 1],
      ['asc', 3],
      ['desc', 1],
      ['desc', 3],
    ] as const)
      it(`are walked once each, ${what} (${direction}, pages of ${size})`, () =>
        inAcme(async () => {
          await store(column, values)
          const ascending = values.flatMap((_, i) =>
            ['a', 'b'].map((half) => `${half}${String(i).padStart(2, '0')}`),
          )
          const expected = direction === 'asc' ? ascending : ascending.reverse()
          expect(await walk(`${column} ${direction}`, size)).to.deep.equal(expected)
        }))
})
