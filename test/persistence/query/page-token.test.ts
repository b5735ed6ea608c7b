import { expect } from 'chai'
import fc from 'fast-check'
import { inspect } from 'node:util'
import { InvalidArgument } from '../../../lib/errors.js'
import type { OrderTerm } from '../../../lib/persistence/query/order-by.js'
import {
  type PageScope,
  decodePageToken,
  encodeKeyset,
  encodeOffset,
} from '../../../lib/persistence/query/page-token.js'
import type { PlanColumn } from '../../../lib/persistence/query/query-plan.js'
import { StoredLiteral } from '../../../lib/resource/kinds/stored-literal.js'
import { drill } from '../../support/drill.js'
import { COLUMNS, SORTABLE, read, rows } from './specimen-rows.js'

const scope: PageScope = {
  resource: 'widget',
  tenant: 'acme',
  filter: 'size > 1',
  orderBy: 'size',
  search: '',
  showDeleted: false,
}
const asc = (column: PlanColumn): OrderTerm => ({ column, direction: 'asc' })
const literal = (text: string): StoredLiteral => StoredLiteral.of(text) as StoredLiteral
const of = (kind: PlanColumn['kind'], nullable = false): PlanColumn => ({ column: 'c', kind, nullable })

const refusal = (decode: () => unknown): string => {
  try {
    decode()
  } catch (error) {
    if (!(error instanceof InvalidArgument)) throw error
    expect(error.field).to.equal('page_token')
    return error.message
  }
  return 'nothing'
}
const MALFORMED = /is malformed/
const FOREIGN = /belongs to another list/

describe('page tokens', () => {
  it('of the first page are empty', () => {
    expect(decodePageToken('', [asc(COLUMNS.id)], scope)).to.equal(undefined)
  })

  const values: readonly (readonly [kind: PlanColumn['kind'], ...values: unknown[]])[] = [
    ['string', '', 'a ', 'é😀\uffff', '"\\', '50'],
    ['bool', true, false],
    ['int32', 0, -(2 ** 31), 2 ** 31 - 1, literal('2147483648'), literal('-9223372036854775808')],
    ['uint32', 0, 2 ** 32 - 1, literal('-1'), literal("'it''s'")],
    ['int64', 0n, -(2n ** 63n), 2n ** 63n - 1n, literal('9223372036854775808'), literal('1.5')],
    ['uint64', 0n, 2n ** 64n - 1n, literal('-1'), literal("X'00FF'")],
    ['decimal', 0n, 150n, literal('1.005'), literal('NaN')],
    ['float', 0.5, Math.fround(0.1), -0, Infinity],
    ['double', 0.1, -0, 0, 5e-324, 1.7976931348623157e308, Infinity, -Infinity, NaN],
    [
      'timestamp',
      new Date('1000-01-01T00:00:00Z'),
      new Date('9999-12-31T23:59:59.999Z'),
      1_700_000_000_123_456n,
      'infinity',
    ],
    ['duration', -1n, -(2n ** 63n), 2n ** 63n - 1n],
    ['bytes', Buffer.from([]), Buffer.from([0, 255, 128])],
    ['any', 'x', 1, -0, 2n ** 63n, new Date(5), true, Buffer.from('x')],
  ]
  for (const [kind, ...held] of values) {
    for (const value of held) {
      it(`carry ${kind} ${inspect(value)} exactly`, () => {
        const terms = [asc(of(kind))]
        const cursor = decodePageToken(encodeKeyset([value], terms, scope), terms, scope)
        if (cursor?.kind !== 'keyset') return expect.fail('no keyset')
        expect(cursor.values).to.deep.equal([value])
        expect(Object.is(cursor.values[0], -0)).to.equal(Object.is(value, -0))
      })
    }
  }

  it('carry NULL, the name of an enum, and what 32 bits keep of a float', () => {
    const terms = [asc(COLUMNS.note), asc(COLUMNS.state), asc(COLUMNS.ratio), asc(COLUMNS.id)]
    const token = encodeKeyset([undefined, 2, 0.1, 'r1'], terms, scope)
    const values = [null, 'PAUSED', Math.fround(0.1), 'r1']
    expect(decodePageToken(token, terms, scope)).to.deep.equal({ kind: 'keyset', values })
  })

  it('carry every row, and never that of another list', () => {
    const terms = SORTABLE.map((name) => asc(COLUMNS[name]))
    fc.assert(
      fc.property(rows(1), fc.constantFrom(undefined, 'key'), ([row], key) => {
        if (row === undefined) return
        const given = terms.map(({ column }) => read(row, column))
        const token = encodeKeyset(given, terms, scope, key)
        const cursor = decodePageToken(token, terms, scope, key)
        if (cursor?.kind !== 'keyset') return expect.fail('no keyset')
        expect(encodeKeyset(cursor.values, terms, scope, key)).to.equal(token)
      }),
      { numRuns: drill(200, 20_000) },
    )
  })

  describe('are refused', () => {
    const terms: OrderTerm[] = [asc(COLUMNS.small), asc(COLUMNS.id)]
    const token = encodeKeyset([7, 'r7'], terms, scope)

    const others: readonly (readonly [what: string, scope: Partial<PageScope>])[] = [
      ['resource', { resource: 'gadget' }],
      ['tenant', { tenant: 'other' }],
      ['span of tenants', { tenant: undefined }],
      ['filter', { filter: 'size > 2' }],
      ['order', { orderBy: 'size desc' }],
      ['search', { search: 'x' }],
      ['set of rows', { showDeleted: true }],
      ['split between filter and order', { filter: 'size > 1size', orderBy: '' }],
    ]
    for (const [what, other] of others) {
      it(`under another ${what}`, () => {
        expect(refusal(() => decodePageToken(token, terms, { ...scope, ...other }))).to.match(FOREIGN)
      })
    }

    it('under other terms', () => {
      const reversed: OrderTerm[] = [{ column: COLUMNS.small, direction: 'desc' }, asc(COLUMNS.id)]
      for (const other of [reversed, [asc(COLUMNS.id)], [...terms, asc(COLUMNS.note)], []]) {
        expect(refusal(() => decodePageToken(token, other, scope))).to.match(FOREIGN)
      }
    })

    it('under another key, or none', () => {
      const signed = encodeKeyset([7, 'r7'], terms, scope, 'secret')
      expect(decodePageToken(signed, terms, scope, 'secret')).to.have.property('kind', 'keyset')
      expect(refusal(() => decodePageToken(signed, terms, scope, 'other'))).to.match(FOREIGN)
      expect(refusal(() => decodePageToken(signed, terms, scope))).to.match(FOREIGN)
      expect(refusal(() => decodePageToken(token, terms, scope, 'secret'))).to.match(FOREIGN)
    })

    it('when a literal is not one value', () => {
      const texts = ["'a' OR 1", "''' OR 1 = 1", "'\0'", "x'00'", "X'0'", '1; DROP', '1e', '', 'NULL', "1'"]
      for (const text of texts) expect(StoredLiteral.of(text), text).to.equal(undefined)
      const forged = { ...literal('1'), text: '1 OR 1' }
      const given = encodeKeyset(
        [Object.setPrototypeOf(forged, StoredLiteral.prototype)],
        [asc(of('int32'))],
        scope,
      )
      expect(refusal(() => decodePageToken(given, [asc(of('int32'))], scope))).to.match(MALFORMED)
    })

    it('when a single character differs', () => {
      for (let i = 0; i < token.length; i++) {
        const other = token[i] === 'A' ? 'B' : 'A'
        const forged = token.slice(0, i) + other + token.slice(i + 1)
        expect(
          refusal(() => decodePageToken(forged, terms, scope)),
          forged,
        ).to.match(/page_token: /)
      }
    })

    const malformed: readonly string[] = [
      ...['x', '!', ' ', 'NTA=\n', '50', 'é', '====', '\0'],
      ...[
        '[]',
        '{}',
        'null',
        '[[],1]',
        '[1,""]',
        '["",""]',
        '[[],"",1]',
        '[[',
        '-1',
        '+1',
        '1.5',
        '007',
        '2147483648',
        '1e3',
        ' 1',
      ].map((text) => Buffer.from(text).toString('base64url')),
      'A'.repeat(70_000),
    ]
    for (const text of malformed) {
      it(`when they read ${JSON.stringify(text.slice(0, 30))}`, () => {
        expect(refusal(() => decodePageToken(text, terms, scope))).to.match(MALFORMED)
      })
    }

    /** Whoever knows the code can make an unsigned checksum, so that only the types stand in the way. */
    const forged: readonly (readonly [kind: PlanColumn['kind'], ...values: unknown[]])[] = [
      ['string', 1, 'a\0', '\ud800', null, true, literal("'x'")],
      ['int32', 1.5, 'x', 1n, 2 ** 31, -(2 ** 31) - 1, NaN],
      ['uint32', 'x', -1, 2 ** 32, 0.5],
      ['int64', 1, 2n ** 63n, -(2n ** 63n) - 1n, '1'],
      ['uint64', -1n, 2n ** 64n, 1],
      ['duration', 2n ** 63n, -(2n ** 63n) - 1n],
      ['float', 'x', 1n],
      ['double', 1n],
      ['bool', 'x', 1n, 1, 2],
      ['bytes', 'x'],
      ['timestamp', new Date(NaN), new Date('0999-12-31T23:59:59Z'), 'a\0', 'x'.repeat(65), NaN, 2n ** 63n],
      ['tags', 'x'],
      ['json', 'x'],
      ['any', '\0', new Date(NaN)],
    ]
    for (const [kind, ...held] of forged) {
      for (const value of held) {
        it(`when a ${kind} would be ${inspect(value)}`, () => {
          const token = encodeKeyset([value], [asc(of(kind, true))], scope)
          expect(refusal(() => decodePageToken(token, [asc(of(kind))], scope))).to.match(MALFORMED)
        })
      }
    }
  })

  describe('as offsets', () => {
    const cases: readonly (readonly [token: string, offset: number])[] = [
      ['MA==', 0],
      ['NTA=', 50],
      ['NTA', 50],
      ['MjE0NzQ4MzY0Nw==', 2147483647],
      [encodeOffset(1000), 1000],
    ]
    for (const [token, offset] of cases) {
      it(token, () => {
        const terms = [asc(COLUMNS.id)]
        expect(decodePageToken(token, terms, scope)).to.deep.equal({ kind: 'offset', offset })
        expect(decodePageToken(token, terms, scope, 'key')).to.deep.equal({ kind: 'offset', offset })
      })
    }
  })

  it('refuse an order whose values are too long to carry', () => {
    const encode = () => encodeKeyset(['x'.repeat(60_000)], [asc(COLUMNS.name)], scope)
    expect(encode).to.throw(InvalidArgument, 'too long')
  })

  it('survive random text', () => {
    const terms = [asc(COLUMNS.small), asc(COLUMNS.id)]
    const base64 = fc.base64String().filter((text) => text !== '')
    const json = fc.json().map((text) => Buffer.from(text).toString('base64url'))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), base64, json), (text) => {
        try {
          const cursor = decodePageToken(text, terms, scope)
          expect(cursor === undefined || cursor.kind === 'offset').to.equal(true)
        } catch (error) {
          expect(error).to.be.instanceOf(InvalidArgument).with.property('field', 'page_token')
        }
      }),
      { numRuns: drill(5_000, 200_000) },
    )
  })
})
