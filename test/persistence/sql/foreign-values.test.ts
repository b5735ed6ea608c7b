import { fromBinary, toBinary, toJson } from '@bufbuild/protobuf'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'
import { type BackendName, databases, describeOn } from '../../support/databases/backends.js'
import { type Specimen as SpecimenMessage, SpecimenSchema } from '../../support/gen/specimens_pb.js'
import { Specimen } from '../../support/entities/specimen.js'

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
  [
    'values of other types in a column of 32-bit integers',
    'count',
    isSqlite,
    [
      '-9e999',
      '-3000000000',
      '-1',
      '1.5',
      '7',
      '3000000000',
      '9e999',
      "''",
      "'0x1'",
      "'abc'",
      "x''",
      "x'ff'",
    ],
  ],
  [
    'values of other types in a column of 64-bit integers',
    'big',
    isSqlite,
    ['-1e300', '-1', '1.5', '9223372036854775807', "''", "'0x1'", "'abc'"],
  ],
  [
    'values of other types in a column of booleans',
    'active',
    isSqlite,
    ['-1', '0', '0.5', '1', '2', "''", "'false'", "x'00'"],
  ],
  [
    'names of an enum that the message does not have',
    'phase',
    () => true,
    ["''", "'A'", "'PHASE_CUT'", "'PHASE_OF_TOMORROW'", "'PHASE_RAW'", "'PHASE_ZZZ'", "'raw'"],
  ],
  [
    'numbers and what is no time',
    'due_time',
    isSqlite,
    ["''", '-1.5', '0', '1709168523', '1709168523004', "'2024-02-30'", "'infinity'", "'tomorrow'"],
  ],
]

/** The first and the last instant of a google.protobuf.Timestamp, to the millisecond. */
const [FIRST, LAST] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z']

/** SQL of a stored time, and what a client is told of it; undefined is not set. */
const TIMES: readonly (readonly [
  on: (name: BackendName) => boolean,
  told: Readonly<Record<string, string | undefined>>,
])[] = [
  [
    (name) => name === 'postgres',
    {
      "'infinity'": undefined,
      "'-infinity'": undefined,
      "'4713-01-01 00:00:00+00 BC'": undefined,
      "'0001-12-31 23:59:59.999999+00 BC'": undefined,
      "'0001-01-01 00:00:00.000999'": FIRST,
      "'0044-02-29 12:00:00.25'": '0044-02-29T12:00:00.250Z',
      "'0999-12-31 23:59:59.999999'": '0999-12-31T23:59:59.999Z',
      "'1969-12-31 23:59:59.9999'": '1969-12-31T23:59:59.999Z',
      "'9999-12-31 23:59:59.999999'": LAST,
      "'10000-01-01'": undefined,
      "'294276-12-31 23:59:59.999999'": undefined,
    },
  ],
  [
    isMysql,
    {
      "'0000-00-00'": undefined,
      "'0000-12-31 23:59:59'": undefined,
      "'0044-02-29 12:00:00.25'": '0044-02-29T12:00:00.250Z',
      "'2024-00-00'": undefined,
      "'2024-05-00 01:02:03'": undefined,
      "'9999-12-31 23:59:59.999999'": LAST,
    },
  ],
  [
    isSqlite,
    {
      "'2024-02-29'": '2024-02-29T00:00:00Z',
      "'2024-02-29 01:02'": '2024-02-29T01:02:00Z',
      "'2024-02-29 01:02:03.5'": '2024-02-29T01:02:03.500Z',
      "'2024-02-29T01:02:03.004+05:30'": '2024-02-28T19:32:03.004Z',
      "'2024-02-29T01:02:03-0100'": '2024-02-29T02:02:03Z',
      "'0044-02-29T01:02:03.004Z'": '0044-02-29T01:02:03.004Z',
      "'12024-02-29T01:02:03.004Z'": undefined,
      "'2024-02-30'": undefined,
      "'2024-02-30T01:02:03Z'": undefined,
      "'2024-13-01T01:02:03Z'": undefined,
      "''": undefined,
      "'tomorrow'": undefined,
      "'2024-13-01'": undefined,
      '1709168523': undefined,
      "x'00ff'": undefined,
    },
  ],
]

/** Times that are finer than what a client is told, or beyond it. */
const FINER = {
  postgres: [
    "'-infinity'",
    "'0001-12-31 23:59:59.999999+00 BC'",
    "'0001-01-01 00:00:00.000999'",
    "'1969-12-31 23:59:59.9999'",
    "'2024-02-29 01:02:03.004'",
    "'2024-02-29 01:02:03.004999'",
    "'2024-02-29 01:02:03.005'",
    "'9999-12-31 23:59:59.999'",
    "'10000-01-01'",
    "'infinity'",
  ],
  mysql: [
    "'0000-00-00'",
    "'0000-12-31 23:59:59'",
    "'0001-01-01 00:00:00.000999'",
    "'1969-12-31 23:59:59.9999'",
    "'2024-02-29 01:02:03.004'",
    "'2024-02-29 01:02:03.004999'",
    "'2024-02-29 01:02:03.005'",
    "'9999-12-31 23:59:59.999999'",
  ],
  sqlite: [
    "'0001-01-01T00:00:00.000999Z'",
    "'1969-12-31T23:59:59.9999Z'",
    "'2024-02-29T01:02:03.004Z'",
    "'2024-02-29T01:02:03.004999Z'",
    "'2024-02-29T01:02:03.005Z'",
    "'9999-12-31T23:59:59.999999999Z'",
  ],
}

const HOLDS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

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

  if (name === 'postgres' || isMysql(name))
    for (const direction of ['asc', 'desc'])
      it(`are walked once each, days in a column without a time of day (${direction})`, () =>
        inAcme(async () => {
          const far = ["'-infinity'", "'0044-03-15 BC'", "'0001-01-01'"]
          const near = ["'1000-01-01'", "'1969-12-31'", "'1970-01-01'", "'2024-02-29'", "'9999-12-31'"]
          const days = name === 'postgres' ? [...far, ...near, "'infinity'"] : near
          const column = (type: string) =>
            isMysql(name) ? `MODIFY due_time ${type} NULL` : `ALTER due_time TYPE ${type} USING NULL`
          const { dataSource } = subject
          await dataSource?.query(`ALTER TABLE specimens ${column('date')}`)
          try {
            await store('due_time', days)
            const ascending = days.flatMap((_, i) => ['a', 'b'].map((half) => `${half}0${i}`))
            const expected = direction === 'asc' ? ascending : ascending.reverse()
            expect(await walk(`due_time ${direction}`, 1)).to.deep.equal(expected)
          } finally {
            await dataSource?.query(`DELETE FROM specimens`)
            await dataSource?.query(
              `ALTER TABLE specimens ${column(isMysql(name) ? 'datetime(6)' : 'timestamptz')}`,
            )
          }
        }))

  it('have tags that are texts, whatever JSON they hold', () =>
    inAcme(async () => {
      const told = {
        '{"a": "x", "b": ""}': { a: 'x', b: '' },
        '{"a": 1, "b": true, "c": 1.5}': { a: '1', b: 'true', c: '1.5' },
        '{"a": null, "b": "x"}': { b: 'x' },
        '{"a": {"b": [1]}}': { a: '{"b":[1]}' },
        '{"__proto__": 1}': JSON.parse('{"__proto__": "1"}') as object,
        '[]': {},
        '["x"]': {},
        null: {},
        '"x"': {},
        '7': {},
      }
      const values = Object.keys(told)
      await store(
        'tags',
        values.map((json) => `'${json}'`),
      )
      const { items } = await subject.specimens.list({ orderBy: 'id', pageSize: 1000 })
      const messages = items.map((item) => resourceModel(Specimen).toMessage<SpecimenMessage>(item))
      for (const [at, message] of messages.entries()) {
        const binary = fromBinary(SpecimenSchema, toBinary(SpecimenSchema, message))
        expect(binary.tags, values[at % values.length]).to.deep.equal(
          Object.values(told)[Object.keys(told).indexOf(values[Number(message.id.slice(1))] ?? '')],
        )
        expect(() => toJson(SpecimenSchema, message)).to.not.throw()
      }
      expect(messages).to.have.length(values.length * 2)
    }))

  it('have JSON that counts as not set where it cannot be read, is warned of once, and stays until it is written', async () => {
    const reports: string[] = []
    const failures: string[] = []
    // One row of each engine: what was reported of a row is not reported again.
    const row = `row of ${name}`
    const principal = { subject: 'ada', tenant: 'acme', groups: [], scopes: [] }
    const context = new RequestContext({
      principal,
      onFailure: ({ message, isWarning }) => (isWarning === true ? reports : failures).push(message),
    })
    const stored = {
      labels: ['[null]', '{}', '7', '[{}]'],
      origin: ['{"depth": 1.5}', '{"quarry": 5}', '[]', '"x"', '7'],
    }
    await context.run(async () => {
      for (const [column, values] of Object.entries(stored)) {
        await subject.clear()
        await subject.specimens.create(draft({ id: 'good', labels: ['a'], origin: { quarry: 'q' } as never }))
        await store(
          column,
          values.map((json) => `'${json}'`),
        )
        await subject.dataSource?.query(`UPDATE specimens SET id = '${row}' WHERE id = 'a00'`)
        const kept = () => subject.dataSource?.query(`SELECT ${column} FROM specimens WHERE id = '${row}'`)
        const before: unknown = await kept()
        for (let again = 0; again < 2; again++) {
          const { items } = await subject.specimens.list({ orderBy: 'id' })
          expect(items).to.have.length(values.length * 2 + 1)
          for (const item of items) {
            const message = resourceModel(Specimen).toMessage<SpecimenMessage>(item)
            expect(message.labels.length > 0 || message.origin !== undefined || item.id !== 'good').to.equal(
              true,
            )
            if (item.id !== 'good')
              expect((item as unknown as Record<string, unknown>)[column]).to.equal(undefined)
          }
        }
        expect((await subject.specimens.update(row, { title: 'new' }, ['title'])).title).to.equal('new')
        const current = await subject.specimens.get(row)
        expect(current.title).to.equal('new')
        expect(await kept()).to.deep.equal(before)
        const told = () =>
          reports.filter((text) => text.includes(`the column ${column} of specimen "${row}"`))
        expect(told()).to.have.length(1)
        expect(told()[0]).to.match(/ contains JSON that cannot be read, and counts as unset$/)
        // As a client does that has read the row.
        await subject.specimens.update(row, current)
        await subject.specimens.update(row, current)
        expect(await kept()).to.not.deep.equal(before)
        expect(told()).to.have.length(2)
        expect(told()[1]).to.match(
          / contained JSON that could not be read, and an update has overwritten it$/,
        )
      }
    })
    expect(failures).to.deep.equal([])
  })

  it('are found by the times that a client is told', () =>
    inAcme(async () => {
      const values = FINER[isSqlite(name) ? 'sqlite' : isMysql(name) ? 'mysql' : 'postgres']
      await store('due_time', values)
      const { items } = await subject.specimens.list({ orderBy: 'id', pageSize: 1000 })
      // A value that is unset is compared as it is stored.
      const end = (id: string) => (Number(id.slice(1)) < values.length / 2 ? -Infinity : Infinity)
      const told = items.map(({ id, dueTime }) => ({ id, at: dueTime?.getTime() ?? end(id) }))
      for (const at of new Set(told.flatMap(({ at }) => [at - 1, at, at + 1]))) {
        if (!(at >= new Date('1000-01-01').getTime() && at <= new Date(LAST).getTime())) continue
        for (const [op, holds] of Object.entries(HOLDS)) {
          const filter = `due_time ${op} "${new Date(at).toISOString()}"`
          const found = await subject.specimens.list({ filter, orderBy: 'id', pageSize: 1000 })
          const expected = told.filter((row) => holds(row.at, at)).map(({ id }) => id)
          expect(
            found.items.map(({ id }) => id),
            filter,
          ).to.deep.equal(expected)
          const others = await subject.specimens.count({ filter: `NOT ${filter}` })
          expect(others, `NOT ${filter}`).to.equal(told.length - expected.length)
        }
      }
    }))

  it('have times that a client can be told', () =>
    inAcme(async () => {
      const told = TIMES.find(([isOn]) => isOn(name))?.[1] ?? {}
      const values = Object.keys(told)
      await store('due_time', values)
      const { items } = await subject.specimens.list({ orderBy: 'id', pageSize: 1000 })
      const rows = items.map((item) => {
        const message = resourceModel(Specimen).toMessage<SpecimenMessage>(item)
        const [json, binary] = [
          toJson(SpecimenSchema, message),
          fromBinary(SpecimenSchema, toBinary(SpecimenSchema, message)),
        ]
        expect(binary.dueTime).to.deep.equal(message.dueTime)
        return [values[Number(item.id.slice(1))], (json as { readonly dueTime?: string }).dueTime]
      })
      expect(rows).to.have.length(values.length * 2)
      expect(Object.fromEntries(rows)).to.deep.equal(told)
    }))
})
