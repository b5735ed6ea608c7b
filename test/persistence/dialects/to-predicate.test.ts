import { expect } from 'chai'
import type { DialectName } from '../../../lib/persistence/dialects/dialect.js'
import { keysetPredicate } from '../../../lib/persistence/query/keyset.js'
import {
  MAX_FILTER_COMPARISONS,
  MAX_FILTER_NESTING,
  parseFilterPlan,
} from '../../../lib/persistence/query/filter.js'
import {
  type FilterNode,
  type PlanColumn,
  and,
  compare,
  equals,
  isNotNull,
  isNull,
  not,
  or,
} from '../../../lib/persistence/query/query-plan.js'
import { toPredicate } from '../../../lib/persistence/dialects/to-predicate.js'
import { DATABASES } from '../query/databases.js'
import { COLUMNS, everyValue } from '../query/specimen-rows.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'

const of = (column: string, kind: PlanColumn['kind'], nullable = false): PlanColumn => ({
  column,
  kind,
  nullable,
})
const a = of('a', 'int32')
const b = of('b', 'int64')
const tags = of('tags', 'tags')
const asc = (column: PlanColumn) => ({ column, direction: 'asc' }) as const

type Texts = Readonly<Record<'postgres' | 'mariadb' | 'sqlite', string>>
const everywhere = (text: string): Texts => ({
  postgres: text,
  mariadb: text.replaceAll('"', '`'),
  sqlite: text.replaceAll('"', '`'),
})
const HELD = 'FROM (SELECT `tags` AS held) AS tags, json_each(tags.held) AS tag WHERE tag.key = ?'

describe('toPredicate', () => {
  const cases: readonly (readonly [
    name: string,
    node: FilterNode,
    texts: Texts,
    params: readonly unknown[],
  ])[] = [
    ['an empty AND', and(), everywhere('1 = 1'), []],
    ['an empty OR', or(), everywhere('1 = 0'), []],
    ['one operand', and(undefined, or(isNull(a))), everywhere('"a" IS NULL'), []],
    ['NOT NULL', isNotNull(a), everywhere('"a" IS NOT NULL'), []],
    [
      'a quote in a name',
      isNull(of('x"y`z', 'int32')),
      { postgres: '"x""y`z" IS NULL', mariadb: '`x"y``z` IS NULL', sqlite: '`x"y``z` IS NULL' },
      [],
    ],
    [
      'nested ANDs',
      and(and(isNull(a), isNull(b)), isNull(a)),
      everywhere('"a" IS NULL AND "b" IS NULL AND "a" IS NULL'),
      [],
    ],
    [
      'OR beside AND',
      and(or(isNull(a), isNull(b)), not(and(isNull(a), isNull(b)))),
      everywhere('("a" IS NULL OR "b" IS NULL) AND NOT ("a" IS NULL AND "b" IS NULL)'),
      [],
    ],
    [
      'a 64-bit integer',
      equals(b, 2n ** 53n + 1n),
      { postgres: '"b" = $1', mariadb: '`b` = CAST(? AS SIGNED)', sqlite: '`b` = CAST(? AS INTEGER)' },
      ['9007199254740993'],
    ],
    [
      'an unsigned one',
      compare(of('u', 'uint64'), '<', 2n ** 64n - 1n),
      { postgres: '"u" < $1', mariadb: '`u` < CAST(? AS UNSIGNED)', sqlite: '`u` < CAST(? AS NUMERIC)' },
      ['18446744073709551615'],
    ],
    [
      'text within text',
      { kind: 'contains', column: a, key: undefined, value: '%' },
      {
        postgres: 'strpos("a", $1) > 0',
        mariadb: 'LOCATE(? COLLATE utf8mb4_bin, `a`) > 0',
        sqlite: 'instr(`a`, ?) > 0',
      },
      ['%'],
    ],
    [
      'a tag there',
      { kind: 'has', column: tags, key: 'k' },
      {
        postgres: 'jsonb_exists("tags", $1)',
        mariadb: "JSON_CONTAINS_PATH(`tags`, 'one', ?)",
        sqlite: `EXISTS (SELECT 1 ${HELD})`,
      },
      [],
    ],
    [
      'a tag in tags that may be NULL',
      { kind: 'has', column: { ...tags, nullable: true }, key: 'k' },
      {
        postgres: 'COALESCE(jsonb_exists("tags", $1), FALSE)',
        mariadb: "COALESCE(JSON_CONTAINS_PATH(`tags`, 'one', ?), 0)",
        sqlite: `EXISTS (SELECT 1 ${HELD})`,
      },
      [],
    ],
    [
      'a tag compared',
      { kind: 'compare', column: tags, key: 'k', op: '!=', value: 'v' },
      {
        postgres: '("tags" ->> $1::text) COLLATE "C" <> $2',
        mariadb: 'CAST(JSON_UNQUOTE(JSON_EXTRACT(`tags`, ?)) AS BINARY) <> ?',
        sqlite: `(SELECT tag.value ${HELD}) <> ?`,
      },
      [],
    ],
    [
      'a row',
      keysetPredicate([asc(a), asc(b)], [1, 2n]),
      {
        postgres: '("a", "b") > ($1, $2)',
        mariadb: '`a` >= ? AND (`a` > ? OR (`a` = ? AND `b` > CAST(? AS SIGNED)))',
        sqlite: '(`a`, `b`) > (?, CAST(? AS INTEGER))',
      },
      [],
    ],
  ]
  for (const [name, node, texts, params] of cases) {
    for (const dialect of ['postgres', 'mariadb', 'mysql', 'sqlite'] as const) {
      it(`writes ${name} for ${dialect}`, () => {
        const bound: unknown[] = []
        expect(toPredicate(node, dialectNamed(dialect), bound)).to.equal(
          texts[dialect === 'mysql' ? 'mariadb' : dialect],
        )
        if (params.length > 0) expect(bound).to.deep.equal(params)
      })
    }
  }

  it('goes on counting where the statement is', () => {
    const params: unknown[] = ['tenant']
    expect(toPredicate(and(equals(a, 1), equals(a, 2)), dialectNamed('postgres'), params)).to.equal(
      '"a" = $2 AND "a" = $3',
    )
    expect(params).to.deep.equal(['tenant', 1, 2])
  })

  describe('binds a value in the form its column stores', () => {
    const forms: readonly (readonly [
      kind: PlanColumn['kind'],
      value: never,
      Readonly<Record<Exclude<DialectName, 'mariadb'>, unknown>>,
    ])[] = [
      ['bool', true as never, { postgres: true, mysql: 1, sqlite: 1 }],
      [
        'timestamp',
        new Date('2024-02-29T12:00:00.001Z') as never,
        {
          postgres: '2024-02-29T12:00:00.001Z',
          mysql: '2024-02-29 12:00:00.001000',
          sqlite: '2024-02-29T12:00:00.001Z',
        },
      ],
      [
        'timestamp',
        -1n as never,
        {
          postgres: '1969-12-31T23:59:59.999999Z',
          mysql: '1969-12-31 23:59:59.999999',
          sqlite: '1969-12-31T23:59:59.999Z',
        },
      ],
      [
        'float',
        0.1 as never,
        { postgres: Math.fround(0.1), mysql: Math.fround(0.1), sqlite: Math.fround(0.1) },
      ],
      ['duration', -5n as never, { postgres: '-5', mysql: '-5', sqlite: '-5' }],
      [
        'bytes',
        Uint8Array.of(1, 2) as never,
        { postgres: Buffer.from([1, 2]), mysql: Buffer.from([1, 2]), sqlite: Buffer.from([1, 2]) },
      ],
      ['enum', 'ACTIVE' as never, { postgres: 'ACTIVE', mysql: 'ACTIVE', sqlite: 'ACTIVE' }],
    ]
    for (const [kind, value, expected] of forms) {
      for (const [dialect, form] of Object.entries(expected)) {
        it(`${kind} for ${dialect}`, () => {
          const params: unknown[] = []
          toPredicate(equals(of('x', kind), value), dialectNamed(dialect as DialectName), params)
          expect(params).to.deep.equal([form])
        })
      }
    }
  })

  describe('stays within what a database can parse', () => {
    const term = 'small=1'
    const filled = (separator: string) =>
      Array.from({ length: MAX_FILTER_COMPARISONS }, () => term).join(separator)
    /** As deep as may be, with as many comparisons as may be. */
    const steps = (open: string, close: string) => {
      const each = (open + close).split(term).length - 1
      const levels = Math.min(MAX_FILTER_NESTING, Math.floor((MAX_FILTER_COMPARISONS - 1) / each))
      return open.repeat(levels) + term + close.repeat(levels)
    }
    const filters = {
      'as many ANDs as fit': filled(' '),
      'as many ORs as fit': filled(' OR '),
      'every level': steps('NOT (', ')'),
      'every level beside others': steps(`-(${term} OR `, ` ${term})`),
      'more beside others': steps(`-(${term} OR ${term} `, ` ${term} OR ${term})`),
      'long runs at every level': steps(`(${Array.from({ length: 7 }, () => term).join(' ')} `, ')'),
      'every tag asked for': Array.from({ length: MAX_FILTER_COMPARISONS }, (_, i) => `tags:k${i}`).join(
        ' OR ',
      ),
      'tags that begin with a dash': Array.from(
        { length: MAX_FILTER_COMPARISONS },
        (_, i) => `tags."-${i}" = ""`,
      ).join(' OR '),
    }
    for (const [name, open] of DATABASES) {
      for (const [what, filter] of Object.entries(filters)) {
        it(`${what}: ${name}`, async function () {
          const database = await open()
          if (database === undefined) return this.skip()
          try {
            await database.fill(everyValue.slice(0, 5))
            const params: unknown[] = []
            const where = toPredicate(parseFilterPlan(filter, COLUMNS) ?? and(), database.dialect, params)
            expect(await database.ids(where, params)).to.be.an('array')
          } finally {
            await database.close()
          }
        })
      }
    }
  })
})
