import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import type { Column, Columns } from '../../../lib/resource/fields/field.js'
import { parseFilter } from '../../../lib/persistence/dialects/parse-filter.js'
import { parseFilterPlan } from '../../../lib/persistence/query/filter.js'
import { hasValue } from '../../../lib/persistence/query/filter-template.js'
import type { PlanValue } from '../../../lib/persistence/query/query-plan.js'

const of = (column: string, kind: Column['kind'], nullable = true): Column => ({ column, kind, nullable })
const column = (kind: Column['kind']): Column => of('x', kind)

const columns: Columns = {
  a: of('a', 'int32', false),
  b: of('b', 'int32', false),
  c: of('c', 'int32', false),
  d: of('d', 'int32', false),
  s: of('s', 'string'),
  done: of('done', 'bool'),
  tags: of('tags', 'tags', false),
  'owner.name': of('owner_name', 'string'),
  loose: 'anything',
}

const sqlOf = (filter: string): string => parseFilter(filter, columns).where.replaceAll('"', '')

const refusal = (filter: string, known: Columns = columns): string => {
  try {
    parseFilterPlan(filter, known)
  } catch (error) {
    if (!(error instanceof InvalidArgument)) throw error
    expect(error.field).to.equal('filter')
    return error.message.slice('filter: '.length)
  }
  return 'nothing'
}

describe('parseFilterPlan', () => {
  it('takes a keyword before a comparison, or a dot, for the name of a field', () => {
    const known = {
      and: of('k1', 'string'),
      or: of('k2', 'int32'),
      NOT: of('k3', 'tags', false),
      a: of('a', 'int32'),
    }
    const where = (filter: string) => parseFilter(filter, known).where.replaceAll('"', '')
    expect(where(hasValue('and', 'x'))).to.equal('k1 = $1')
    expect(where('and = "x" AND or >= 1')).to.equal('k1 = $1 AND k2 >= $2')
    expect(where('a = 1 and and:"x" or or != 2')).to.equal(where('a = 1 AND (and:"x" OR or != 2)'))
    expect(where('not or:*')).to.equal('NOT (k2 IS NOT NULL)')
    expect(where('NOT NOT.key = "x"')).to.equal(where('NOT (NOT.key = "x")'))
    expect(where('and\t<\n"x"')).to.equal('k1 < $1')
    expect(refusal('a = 1 AND', known)).to.match(/expected a field/)
    expect(refusal('and "x"', known)).to.match(/expected a field/)
  })

  describe('reads the grammar of AIP-160', () => {
    const cases: readonly (readonly [filter: string, sql: string])[] = [
      ['a = 1', 'a = $1'],
      ['a=1', 'a = $1'],
      ['a != 1', 'a <> $1'],
      ['a < 1', 'a < $1'],
      ['a <= 1', 'a <= $1'],
      ['a > 1', 'a > $1'],
      ['a >= 1', 'a >= $1'],
      [' \t\n\r a = 1 \n', 'a = $1'],
      ['a = 1 AND b = 2', 'a = $1 AND b = $2'],
      ['a = 1 and b = 2 And c = 3', 'a = $1 AND b = $2 AND c = $3'],
      ['a = 1 b = 2', 'a = $1 AND b = $2'],
      ['s:*', 's IS NOT NULL'],
      ['-s:* AND a = 1', 'NOT (s IS NOT NULL) AND a = $1'],
      ['a = 1 OR b = 2', '(a = $1 OR b = $2)'],
      ['a = 1 or b = 2 oR c = 3', '(a = $1 OR b = $2 OR c = $3)'],
      ['a = 1 OR b = 2 AND c = 3', '(a = $1 OR b = $2) AND c = $3'],
      ['a = 1 AND b = 2 OR c = 3', 'a = $1 AND (b = $2 OR c = $3)'],
      ['a = 1 b = 2 OR c = 3 d = 4', 'a = $1 AND (b = $2 OR c = $3) AND d = $4'],
      ['a = 1 OR b = 2 c = 3 OR d = 4', '(a = $1 OR b = $2) AND (c = $3 OR d = $4)'],
      ['(a = 1 AND b = 2) OR c = 3', '((a = $1 AND b = $2) OR c = $3)'],
      ['((a = 1))', 'a = $1'],
      ['(a = 1)(b = 2)', 'a = $1 AND b = $2'],
      ['NOT a = 1', 'NOT (a = $1)'],
      ['not(a = 1)', 'NOT (a = $1)'],
      ['-a = 1', 'NOT (a = $1)'],
      ['-(a = 1 OR b = 2)', 'NOT ((a = $1 OR b = $2))'],
      ['NOT a = 1 AND b = 2', 'NOT (a = $1) AND b = $2'],
      ['NOT a = 1 OR b = 2', '(NOT (a = $1) OR b = $2)'],
      ['NOT NOT a = 1', 'a = $1'],
      ['NOT -NOT a = 1', 'NOT (a = $1)'],
      ['a = -1', 'a = $1'],
      ['a = 1 -b = 2', 'a = $1 AND NOT (b = $2)'],
      ['s = null', 's IS NULL'],
      ['s != null', 's IS NOT NULL'],
      ['NOT s = null', 's IS NOT NULL'],
      ['s:"x"', 'strpos(s, $1) > 0'],
      ['owner.name = "x"', 'owner_name = $1'],
      ['tags:key', 'jsonb_exists(tags, $1)'],
      ['tags : "any key"', 'jsonb_exists(tags, $1)'],
      ['tags:12', 'jsonb_exists(tags, $1)'],
      ['has(tags.key)', 'jsonb_exists(tags, $1)'],
      ['has( tags."a.b" )', 'jsonb_exists(tags, $1)'],
      ['tags.key = "v"', '(tags ->> $1::text) COLLATE C = $2'],
      ['tags.a-b/c < "v"', '(tags ->> $1::text) COLLATE C < $2'],
      ['tags.and = "v"', '(tags ->> $1::text) COLLATE C = $2'],
      ['tags.key:"v"', 'strpos((tags ->> $1::text) COLLATE C, $2) > 0'],
      ['tags.key = null', 'NOT (jsonb_exists(tags, $1))'],
      ['tags.key != null', 'jsonb_exists(tags, $1)'],
    ]
    for (const [filter, sql] of cases) it(filter, () => expect(sqlOf(filter)).to.equal(sql))

    for (const blank of ['', ' ', '\t\n']) {
      it(`${JSON.stringify(blank)} is no filter`, () =>
        expect(parseFilterPlan(blank, columns)).to.equal(undefined))
    }
  })

  describe('types a literal by its column', () => {
    const cases: readonly (readonly [kind: Column['kind'], literal: string, value: PlanValue])[] = [
      ['string', '"x"', 'x'],
      ['string', '""', ''],
      ['string', '"a b AND (c"', 'a b AND (c'],
      ['string', String.raw`"\" \\ \/ \b\f\n\r\t"`, '" \\ / \b\f\n\r\t'],
      ['string', String.raw`"\u00e9\ud83d\uDE00"`, 'é😀'],
      ['string', '"line\nbreak 😀"', 'line\nbreak 😀'],
      ['bool', 'true', true],
      ['bool', 'false', false],
      ['int32', '-2147483648', -2147483648],
      ['int32', '-0', 0],
      ['int32', '10.0', 10],
      ['int32', '1e3', 1000],
      ['int32', '-2.147483648E9', -2147483648],
      ['int32', '150e-1', 15],
      ['int32', '0.000e999999999', 0],
      ['int32', '0e-9', 0],
      ['int32', '214748364700000000000000000000000000000000000e-35', 2147483647],
      ['uint32', '4294967295', 4294967295],
      ['uint32', '-0.0', 0],
      ['int64', '7', 7n],
      ['int64', '-0', 0n],
      ['int64', '9007199254740993.000', 9007199254740993n],
      ['int64', '922337203685477580.7e1', 9223372036854775807n],
      ['int64', '1e18', 1000000000000000000n],
      ['uint64', '1.8446744073709551615e19', 18446744073709551615n],
      ['int64', '9007199254740993', 9007199254740993n],
      ['int64', '-9223372036854775808', -9223372036854775808n],
      ['uint64', '18446744073709551615', 18446744073709551615n],
      ['double', '1', 1],
      ['double', '-1.5e-3', -0.0015],
      ['double', '2E+2', 200],
      ['float', '0.1', Math.fround(0.1)],
      ['timestamp', '"2024-02-29T12:00:00Z"', new Date('2024-02-29T12:00:00Z')],
      ['timestamp', '"2024-02-29t12:00:00.1234567+05:30"', new Date('2024-02-29T06:30:00.123Z')],
      ['timestamp', '"1000-01-01T00:00:00Z"', new Date('1000-01-01T00:00:00Z')],
      ['timestamp', '"9999-12-31T23:59:59.999999999Z"', new Date('9999-12-31T23:59:59.999Z')],
      ['duration', '"1.5s"', 1_500_000_000n],
      ['duration', '1.5s', 1_500_000_000n],
      ['duration', '"-0.000000001s"', -1n],
      ['duration', '"9223372036.854775807s"', 9223372036854775807n],
      ['bytes', '"AP8="', Buffer.from([0, 255])],
      ['bytes', '""', Buffer.from([])],
    ]
    for (const [kind, literal, value] of cases) {
      it(`${kind} = ${literal}`, () => {
        const x = column(kind)
        const expected = { kind: 'compare', column: x, key: undefined, op: '=', value }
        const isRead = value instanceof Date && { isRead: true }
        expect(parseFilterPlan(`x = ${literal}`, { x })).to.deep.equal({ ...expected, ...isRead })
      })
    }

    it('leaves a column of unknown type as it is written', () => {
      const values = ['5', '1.5', '"x"', 'true', '9007199254740993'].map(
        (literal) => parseFilter(`loose = ${literal}`, columns).params[0],
      )
      expect(values).to.deep.equal([5, 1.5, 'x', true, '9007199254740993'])
    })

    it('knows the names of an enum, one called null included', () => {
      const numberOf = new Map([
        ['ON', 1],
        ['null', 2],
      ])
      const state: Column = { ...column('enum'), enumNames: { nameOf: new Map(), numberOf } }
      for (const literal of ['ON', '"ON"', 'null']) {
        const value = literal.replaceAll('"', '')
        const expected = { kind: 'compare', column: state, key: undefined, op: '!=', value }
        expect(parseFilterPlan(`state != ${literal}`, { state })).to.deep.equal(expected)
      }
      expect(refusal('state = OM', { state })).to.equal(
        '"state" has no value "OM" at position 9; did you mean ON?',
      )
      expect(refusal('state < ON', { state })).to.equal(
        '"state" can only be compared with = and !=, not with < at position 7',
      )
    })
  })

  describe('refuses what is wrong and says where', () => {
    const cases: readonly (readonly [filter: string, message: string])[] = [
      ['size = 1', 'unknown field "size" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose'],
      ['a = 1 AND don = true', 'unknown field "don" at position 11; did you mean done?'],
      [
        'constructor = 1',
        'unknown field "constructor" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose',
      ],
      [
        '__proto__.a = 1',
        'unknown field "__proto__.a" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose',
      ],
      [
        'owner = 1',
        'unknown field "owner" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose',
      ],
      ['a.b = 1', 'unknown field "a.b" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose'],
      ['a', 'expected a comparison after "a", found the end at position 2'],
      ['a b', 'expected a comparison after "a", found "b" at position 3'],
      ['a =', '"a" takes an integer, not the end at position 4'],
      ['a == 1', '"a" takes an integer, not "=" at position 4'],
      ['a ! 1', 'unexpected character "!" at position 3'],
      ['a = 1 AND', 'expected a field, found the end at position 10'],
      ['AND a = 1', 'expected a field, found "AND" at position 1'],
      ['a = 1 AND AND b = 1', 'expected a field, found "AND" at position 11'],
      ['a = 1 OR', 'expected a field, found the end at position 9'],
      ['OR', 'expected a field, found "OR" at position 1'],
      ['NOT', 'expected a field, found the end at position 4'],
      ['()', 'expected a field, found ")" at position 2'],
      ['(a = 1', 'expected ")", found the end at position 7'],
      ['a = 1)', 'unexpected ")" at position 6'],
      ['"a" = 1', 'expected a field, found "a" at position 1'],
      ['1 = a', 'expected a field, found "1" at position 1'],
      ['a = b', '"a" takes an integer, not "b" at position 5'],
      ['a = "1"', '"a" takes an integer, not "1" at position 5'],
      ['a = 1.5', '"a" takes an integer, not "1.5" at position 5'],
      ['a = 0x10', '"a" takes an integer, not "0x10" at position 5'],
      ['a = 2147483648', '"a" takes int32, 2147483648 is out of range at position 5'],
      ['a = true', '"a" takes an integer, not "true" at position 5'],
      ['a < null', 'null can only be compared with = and !=, not with < at position 3'],
      ['a = NULL', '"a" takes an integer, not "NULL" at position 5'],
      ['a:1', '":" is for strings, lists and tags, not for "a" at position 2'],
      ['s = x', '"s" takes a string in double quotes, not "x" at position 5'],
      ['s = 1', '"s" takes a string in double quotes, not "1" at position 5'],
      ['s:x', '"s" takes a string in double quotes, not "x" at position 3'],
      ['s:null', '"s" takes a string in double quotes, not "null" at position 3'],
      ["s = 'x'", `unexpected character "'" at position 5: put strings in double quotes`],
      ['s = "x', 'unterminated string at position 5'],
      ['s = "x\\"', 'unterminated string at position 5'],
      ['s = "x\\', 'unterminated string at position 5'],
      [
        '😀😀 = "x',
        'unknown field "😀😀" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose',
      ],
      ['s = "😀" AND s = "x', 'unterminated string at position 17'],
      ['s = "\\q"', 'unknown escape "\\\\q" at position 6: a backslash is written \\\\'],
      ['s = "\\u12"', 'unknown escape "\\\\u" at position 6: a backslash is written \\\\'],
      ['s = "\0"', 'string with a NUL character at position 5'],
      ['s = "\\u0000"', 'string with a NUL character at position 5'],
      ['s = "\ud800"', 'string with half of a surrogate pair at position 5'],
      ['s = "\\udc00\\ud800"', 'string with half of a surrogate pair at position 5'],
      ['\0', 'unexpected character "\\u0000" at position 1'],
      ['done = 1', '"done" takes true or false, not "1" at position 8'],
      ['done = TRUE', '"done" takes true or false, not "TRUE" at position 8'],
      ['done > true', '"done" can only be compared with = and !=, not with > at position 6'],
      ['tags = "x"', '"tags" is compared by key, as in tags.key = "value" at position 6'],
      ['tags.a.b = "x"', 'a key with dots goes in double quotes, as in tags."a.b" at position 1'],
      ['tags.1.5 = "x"', 'a key with dots goes in double quotes, as in tags."a.b" at position 1'],
      ['tags. = "x"', 'expected a name after the dot, found "=" at position 7'],
      ['tags.a = x', '"tags.a" takes a string in double quotes, not "x" at position 10'],
      ['tags:', 'expected a key, found the end at position 6'],
      ['tags:OR', 'expected a key, found "OR" at position 6'],
      ['has(a)', 'has() takes tags.key; other fields compare with null at position 5'],
      ['has(tags.a', 'expected ")", found the end at position 11'],
      ['has("tags")', 'expected tags.key, found "tags" at position 5'],
      ['has = 1', 'unknown field "has" at position 1; valid: a, b, c, d, s, done, tags, owner.name, loose'],
      ['loose = x', '"loose" takes a number, or a string in double quotes, not "x" at position 9'],
      ['loose = 007', '"loose" takes a number, or a string in double quotes, not "007" at position 9'],
      ['loose = 1e999', '"1e999" is out of range at position 9'],
      ['loose = 18446744073709551616', '"18446744073709551616" is out of range at position 9'],
      ['\u00a0', 'unknown field "\u00a0" at position 1; did you mean a or b or c?'],
      ['a\u00a0= 1', 'unknown field "a\u00a0" at position 1; did you mean a?'],
      ['a = 1\u2003', '"a" takes an integer, not "1\u2003" at position 5'],
      ['a = 1, b = 2', 'expected a field, found "," at position 6'],
    ]
    for (const [filter, message] of cases) {
      it(JSON.stringify(filter), () => expect(refusal(filter)).to.equal(message))
    }

    const values: readonly (readonly [kind: Column['kind'], ...literals: string[]])[] = [
      [
        'int32',
        '007',
        '-007',
        '00',
        '0000000000000000000042',
        '01.0',
        '00e1',
        '1.',
        '.0',
        '1e',
        '1e+',
        '1e1.0',
      ],
      ['int32', '1.5', '1e-1', '10e-2', '0.5', '1.0000000000000000000000001', '1e-999999999', '2147483647.5'],
      ['int32', '2147483648.0', '1e10', '1e999999999', '-1e999999999', `1e${'9'.repeat(100)}`, '"1"', '1e3s'],
      ['uint32', '-1', '4294967296', '-1.0', '-1e0', '007'],
      [
        'int64',
        '9223372036854775808',
        '-9223372036854775809',
        '1e19',
        '9223372036854775807.5',
        '007',
        '1e400',
      ],
      ['uint64', '-1', '18446744073709551616', '2e19', '1e20', '1e21', '-1e400'],
      ['float', '3.5e38', '"1"', '.5', '1.', 'Infinity', 'NaN', '007', '00.5'],
      ['double', '1e309', '--1', '1_000', '007', '-00.5', '01e1'],
      ['bytes', '"A"', '"AA"', '"AB=="', '"-_8="', 'AAAA'],
      ['duration', '"1.5"', '"1.0000000000s"', '"9223372036.854775808s"', '5', '1m'],
      [
        'timestamp',
        '2024-02-29T12:00:00Z',
        '"2024-02-29"',
        '"2024-02-30T00:00:00Z"',
        '"2023-02-29T00:00:00Z"',
      ],
      ['timestamp', '"0999-12-31T23:59:59Z"', '"9999-12-31T23:59:59-00:01"', '"1000-01-01T00:00:00+00:01"'],
      [
        'timestamp',
        '"2024-01-01T24:00:00Z"',
        '"2024-01-01T00:00:60Z"',
        '"2024-13-01T00:00:00Z"',
        '1704067200',
      ],
      ['json', '"{}"', '1'],
      ['tags', '"{}"'],
    ]
    for (const [kind, ...literals] of values) {
      for (const literal of literals) {
        it(`${kind} = ${literal}`, () =>
          expect(refusal(`x = ${literal}`, { x: column(kind) })).to.match(/ at position \d+/))
      }
    }
  })

  describe('is bounded', () => {
    const long = (length: number) => `s = "${'x'.repeat(length - 6)}"`
    const nested = (depth: number) => `${'('.repeat(depth)}a = 1${')'.repeat(depth)}`

    it('takes 4096 characters and no more', () => {
      expect(parseFilterPlan(long(4096), columns)).to.have.property('kind', 'compare')
      expect(refusal(long(4097))).to.equal('longer than 4096 characters at position 4097')
      expect(parseFilterPlan(`s = "${'😀'.repeat(4090)}"`, columns)).to.have.property('kind', 'compare')
      expect(refusal(`s = "${'😀'.repeat(4091)}"`)).to.equal('longer than 4096 characters at position 4097')
    })

    it('is too long before it is read', () => {
      const start = 'x'.repeat(9000)
      /** Only its start can be read. */
      const huge = {
        length: 2 ** 29,
        codePointAt: (at: number) => start.codePointAt(at),
        slice: (from: number, to: number) => start.slice(from, to),
      } as string
      expect(refusal(huge)).to.equal('longer than 4096 characters at position 4097')
      expect(refusal(' '.repeat(9000))).to.equal('longer than 4096 characters at position 4097')
    })

    it('takes 128 comparisons and no more, has() and null among them', () => {
      const many = (count: number, separator: string) =>
        Array.from({ length: count }, (_, i) => ['a=1', 'has(tags.a)', 's=null', 'tags:b'][i % 4]).join(
          separator,
        )
      for (const separator of [' ', ' OR ', ' AND ', ' NOT ']) {
        expect(parseFilterPlan(many(128, separator), columns)).to.be.an('object')
        expect(refusal(many(129, separator))).to.match(/^more than 128 comparisons at position \d+$/)
      }
      expect(refusal(`${'('.repeat(60)}${many(64, ' ')}${')'.repeat(60)} OR (${many(65, ' ')})`)).to.match(
        /^more than/,
      )
    })

    it('takes 64 levels and no more', () => {
      expect(parseFilterPlan(nested(64), columns)).to.have.property('kind', 'compare')
      expect(refusal(nested(65))).to.equal('nested deeper than 64 levels at position 65')
      expect(refusal(`${'NOT ('.repeat(65)}a = 1${')'.repeat(65)}`)).to.match(/^nested deeper/)
    })

    it('does not run out of stack', () => {
      expect(refusal(nested(10_000))).to.match(/^longer than 4096/)
      expect(refusal('('.repeat(4000))).to.match(/^nested deeper/)
      expect(sqlOf(`${'-'.repeat(4001)}a=1`)).to.equal('NOT (a = $1)')
    })

    it('cuts what it repeats', () => {
      expect(refusal(`${'x'.repeat(4000)} = 1`)).to.have.length.below(300)
      expect(refusal(`a = ${'9'.repeat(4000)}`)).to.have.length.below(200)
    })
  })

  it('never names a column of the database', () => {
    const secretive: Columns = { a: of('hidden', 'int32'), t: of('hidden', 'tags'), j: of('hidden', 'json') }
    const filters = [
      'a = "x"',
      'a',
      'a = 99999999999',
      'a:1',
      't = "x"',
      'j = 1',
      't.a.b = 1',
      'has(a)',
      'b = 1',
    ]
    for (const filter of filters)
      expect(refusal(filter, secretive))
        .to.match(/ at position /)
        .and.not.contain('hidden')
    expect(refusal('hidden = 1', secretive)).to.equal('unknown field "hidden" at position 1; valid: a, t, j')
  })
})
