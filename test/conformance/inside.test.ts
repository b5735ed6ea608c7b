import { expect } from 'chai'
import fc from 'fast-check'
import { RequestContext } from '../../lib/context.js'
import { InvalidArgument } from '../../lib/errors.js'
import { filter } from '../../lib/persistence/query/filter-template.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { backends, describeOn } from '../support/databases/backends.js'
import { drill } from '../support/drill.js'
import { Deposit } from '../support/entities/deposit.js'
import { Specimen_Phase } from '../support/gen/specimens_pb.js'
import { rejection } from '../support/rejection.js'
import { collated } from './repository/open-subject.js'

type Deposits =
  | InstanceType<ReturnType<typeof memoryRepositoryOf<Deposit>>>
  | InstanceType<ReturnType<typeof repositoryOf<Deposit>>>

const asAda = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.as({ subject: 'ada' }, fn)
const { RAW, CUT } = Specimen_Phase

/** `e` has no place; `d` has one that says nothing. */
const ROWS: readonly Partial<Deposit>[] = [
  {
    id: 'a',
    place: {
      city: 'Oslo',
      surveyed: true,
      phase: CUT,
      floor: 3,
      height: 0.1,
      street: '',
      number: 0,
      within: { city: 'Norway ' },
    },
    labels: ['a', 'B', 'a"b', 'c\\d', '😀', 'x ', '-1', 'true'],
    depths: [1, -2, 2147483647],
    codes: [2n ** 53n + 1n, -1n],
    grades: [0.1, 1e300, -0.5],
    checks: [true],
    phases: [CUT],
    samples: [Uint8Array.of(1, 2)],
    ratios: [Math.fround(0.1)],
  },
  {
    id: 'b',
    place: {
      city: 'oslo',
      floor: -1,
      height: 1e300,
      street: 'Main',
      number: 5,
      within: { within: { floor: 9 } },
    },
    labels: ['A', 'x'],
    checks: [false],
    phases: [RAW, 0],
  },
  {
    id: 'c',
    place: { city: 'O\'slo "x" \\ 😀', phase: RAW, height: -0.5 },
    labels: ['%', '_', ''],
    depths: [0],
    codes: [0n],
    grades: [0],
  },
  { id: 'd', place: {}, labels: ['1', 'null'] },
  { id: 'e' },
]

const FOUND: readonly (readonly [string, string])[] = [
  ['place.city = "Oslo"', 'a'],
  ['place.city != "Oslo"', 'b c d'],
  ['NOT place.city = "Oslo"', 'b c d'],
  ['place.city = ""', 'd'],
  ['place.city < "a"', 'a c d'],
  ['place.city >= "a"', 'b'],
  ['place.city:"slo"', 'a b c'],
  ['place.city:"SLO"', ''],
  ['place.city:"%"', ''],
  [filter`place.city = ${'O\'slo "x" \\ 😀'}`, 'c'],
  ['place.city = null', 'e'],
  ['place.city != null', 'a b c d'],
  ['place.surveyed = true', 'a'],
  ['place.surveyed = false', 'b c d'],
  ['place.surveyed != true', 'b c d'],
  ['place.phase = CUT', 'a'],
  ['place.phase = 2', 'a'],
  ['place.phase != CUT', 'b c d'],
  ['place.phase = PHASE_UNSPECIFIED', 'b d'],
  ['place.floor = 3', 'a'],
  ['place.floor < 3', 'b c d'],
  ['place.floor >= 0', 'a c d'],
  ['place.height = 0.1', 'a'],
  ['place.height = 1e300', 'b'],
  ['place.height > 0', 'a b'],
  ['place.height <= -0.5', 'c'],
  ['place.street = ""', 'a'],
  ['place.street = null', 'c d e'],
  ['place.street != "Main"', 'a'],
  ['NOT place.street = "Main"', 'a'],
  ['place.number = 0', 'a'],
  ['place.number > -1', 'a b'],
  ['place.number != null', 'a b'],
  ['place.within.city = "Norway "', 'a'],
  ['place.within.city = "Norway"', ''],
  ['place.within.city = ""', 'b'],
  ['place.within.within.floor = 9', 'b'],
  ['place.within.within.floor = 0', ''],
  ['place.within = null', 'c d e'],
  ['place.within != null', 'a b'],
  ['place = null', 'e'],
  ['place != null', 'a b c d'],
  ['place:*', 'a b c d'],
  ['place.within:*', 'a b'],
  ['NOT place.number:*', 'c d e'],
  ['place.city = "Oslo" OR place.floor = -1', 'a b'],
  ['place.city:"slo" AND NOT place.floor = -1', 'a c'],
  ['place.city:"slo" -place.surveyed = true', 'b c'],
  ['labels:"a"', 'a'],
  ['labels:"A"', 'b'],
  ['labels:"x"', 'b'],
  ['labels:"x "', 'a'],
  ['labels:"%"', 'c'],
  ['labels:""', 'c'],
  ['labels:"1"', 'd'],
  ['labels:"-1"', 'a'],
  ['labels:"null"', 'd'],
  ['labels:"true"', 'a'],
  [filter`labels:${'a"b'}`, 'a'],
  [filter`labels:${'c\\d'}`, 'a'],
  [filter`labels:${'😀'}`, 'a'],
  ['NOT labels:"a"', 'b c d e'],
  ['labels:"a" OR labels:"A"', 'a b'],
  ['depths:1', 'a'],
  ['depths:-2', 'a'],
  ['depths:2147483647', 'a'],
  ['depths:0', 'c'],
  ['codes:9007199254740993', 'a'],
  ['codes:9007199254740992', ''],
  ['codes:0', 'c'],
  ['grades:0.1', 'a'],
  ['grades:1e300', 'a'],
  ['grades:0', 'c'],
  ['checks:true', 'a'],
  ['checks:false', 'b'],
  ['phases:CUT', 'a'],
  ['phases:2', 'a'],
  ['phases:PHASE_UNSPECIFIED', 'b'],
  ['samples:"AQI="', 'a'],
  ['ratios:0.1', 'a'],
]

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['place.city:*', /"place\.city" is always set: compare it with a value/],
  ['labels:*', /"labels" is a list: test whether it contains a value/],
  ['place.nope = 1', /unknown field "place\.nope" at position 1/],
  ['place.citi = "x"', /unknown field "place\.citi".*city/],
  ['place.population = 1', /"place\.population" is int64: inside a message, only .*int32/],
  ['place.since = "2030-01-01T00:00:00Z"', /"place\.since" is timestamp/],
  ['place.seal = "AQI="', /"place\.seal" is bytes/],
  ['place.names:"x"', /"place\.names" is repeated/],
  ['place.marks.a = "x"', /"place\.marks" is a map/],
  ['place.access_code = "x"', /"place\.access_code" cannot be filtered/],
  ['place.checked_by = "x"', /"place\.checked_by" cannot be filtered/],
  ['place.within.access_code = "x"', /cannot be filtered/],
  ['place.city.x = "x"', /unknown field "place\.city\.x"/],
  ['place."city" = "x"', /position/],
  ['place.City = "x"', /unknown field/],
  ['place.constructor = "x"', /unknown field/],
  ['place = "x"', /is compared by its fields, as in place\.id|place\.city/],
  ['place:"x"', /":" is for/],
  ['place.floor:"x"', /":" is for/],
  ['place.floor = "x"', /integer/],
  ['place.floor = 2147483648', /out of range/],
  ['place.surveyed > true', /with = and !=/],
  ['place.phase = NOPE', /has no value/],
  [`${'place.'.repeat(1)}${'within.'.repeat(8)}city = "x"`, /deeper than 8 levels/],
  ['labels = "a"', /"labels" is a list: .*labels:/],
  ['labels != "a"', /is a list/],
  ['labels > "a"', /is a list/],
  ['labels = null', /is a list/],
  ['labels:1', /a string in double quotes/],
  ['labels.x = "a"', /position/],
  ['depths:"a"', /integer/],
  ['phases:NOPE', /has no value/],
  ['stops:"a"', /"stops" cannot be filtered/],
  ['stops.city = "a"', /position/],
]

describeOn('filters inside of messages and lists', backends, (backend) => {
  let close: () => Promise<void>
  let clear: () => Promise<unknown>
  let deposits: Deposits
  const memory = () => new (memoryRepositoryOf(Deposit))()
  const ids = async (asked: string, on = deposits) =>
    (await on.list({ filter: asked })).items.map(({ id }) => id).join(' ')

  before(async () => {
    const opened = await backend.open([Deposit])
    close = () => opened.close()
    if (opened.dataSource === undefined || opened.database === undefined) {
      deposits = memory()
      clear = () => Promise.resolve((deposits = memory()))
      return
    }
    await createTables(collated(opened.dataSource, backend), [Deposit], opened.database.dialect.name)
    deposits = new (repositoryOf(Deposit))(opened.dataSource)
    clear = () => opened.dataSource!.query('DELETE FROM deposits')
  })
  after(() => close())

  describe('on rows', () => {
    before(() =>
      asAda(async () => {
        await clear()
        for (const row of ROWS) await deposits.create(row)
      }),
    )
    for (const [asked, found] of FOUND)
      it(asked, () => asAda(async () => expect(await ids(asked)).to.equal(found)))
    for (const [asked, why] of REFUSED)
      it(`rejects ${asked.slice(0, 60)}`, () =>
        asAda(async () => {
          const error = await rejection(deposits.list({ filter: asked }), InvalidArgument, why)
          expect(error.field).to.equal('filter')
        }))
    for (const order of ['place', 'place.city', 'labels'])
      it(`rejects the sort order ${order}`, () =>
        asAda(async () => {
          await rejection(deposits.list({ orderBy: order }), InvalidArgument, /has no sort order/)
        }))
    it('matches no row for a string that a database cannot hold, in code', () =>
      asAda(async () => {
        const listed = await deposits.list({}, { under: filter`labels:${'\0'} OR place.city = ${'\ud800'}` })
        expect(listed.items).to.deep.equal([])
      }))
  })

  it('finds what memory finds, whatever is stored', () =>
    asAda(() =>
      fc.assert(
        fc.asyncProperty(fc.array(deposit, { minLength: 1, maxLength: 4 }), async (rows) => {
          await clear()
          const expected = memory()
          for (const [i, row] of rows.entries()) {
            await deposits.create({ ...row, id: `r${i}` })
            await expected.create({ ...row, id: `r${i}` })
          }
          for (const { place, labels, grades, depths, codes } of rows) {
            const {
              city = '',
              floor = 0,
              height = 0,
              street = null,
              phase = 0,
              surveyed = false,
            } = place ?? {}
            const asked = [
              filter`place.city = ${city}`,
              filter`place.city < ${city} OR place.city > ${city}`,
              filter`place.city:${city}`,
              filter`NOT place.floor = ${floor} OR place.floor < ${floor}`,
              filter`place.height = ${height}`,
              filter`place.height < ${height}`,
              filter`place.street = ${street}`,
              filter`place.phase != ${phase} AND place.surveyed = ${surveyed}`,
              filter`place.within.city >= ${city} OR place.within = ${null}`,
              ...(labels ?? []).map((label) => filter`labels:${label}`),
              ...(grades ?? []).map((grade) => filter`grades:${grade}`),
              ...(depths ?? []).map((depth) => filter`depths:${depth}`),
              ...(codes ?? []).map((code) => filter`NOT codes:${code}`),
            ]
            for (const one of asked) expect(await ids(one), one).to.equal(await ids(one, expected))
            expect(await ids(filter`place.city = ${city}`), city).to.equal(
              rows
                .flatMap((row, i) =>
                  row.place !== undefined && (row.place.city ?? '') === city ? [`r${i}`] : [],
                )
                .join(' '),
            )
          }
        }),
        { numRuns: drill(4, 300) },
      ),
    ))
})

const text = fc
  .oneof(
    fc.constantFrom(
      '',
      'a',
      'A',
      'a ',
      ' a',
      '"',
      '\\',
      "'",
      '\\"',
      '%',
      'null',
      'true',
      '1',
      '1.0',
      '-1',
      '[]',
      '{}',
      '😀',
      'é',
      '\n',
      '\u2028',
      '-',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  )
  .filter((one) => !one.includes('\0'))
const int32 = fc.oneof(fc.constantFrom(0, 1, -1), fc.integer())
const double = fc.double({ noNaN: true, noDefaultInfinity: true })
const leaf = {
  city: text,
  surveyed: fc.boolean(),
  phase: fc.constantFrom(0, RAW, CUT),
  floor: int32,
  height: double,
  street: fc.option(text, { nil: undefined }),
}
const deposit = fc.record(
  {
    place: fc.record(
      { ...leaf, within: fc.option(fc.record(leaf, { requiredKeys: [] }), { nil: undefined }) },
      { requiredKeys: [] },
    ),
    labels: fc.array(text, { maxLength: 3 }),
    depths: fc.array(int32, { maxLength: 3 }),
    codes: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 3 }),
    grades: fc.array(double, { maxLength: 3 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<Deposit>>
