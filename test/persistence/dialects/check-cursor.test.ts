import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import type { DialectName } from '../../../lib/persistence/dialects/dialect.js'
import { checkCursor } from '../../../lib/persistence/dialects/check-cursor.js'
import type { PlanColumn } from '../../../lib/persistence/query/query-plan.js'
import { StoredLiteral } from '../../../lib/resource/kinds/stored-literal.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'

const of = (kind: PlanColumn['kind']): PlanColumn => ({ column: 'c', kind, nullable: true })
const literal = (text: string) => StoredLiteral.of(text)
const DIALECTS = [undefined, 'postgres', 'mysql', 'mariadb', 'sqlite'] as const

/** Whose rows can hold the value. */
const fit = (kind: PlanColumn['kind'], value: never): string =>
  DIALECTS.filter((dialect: DialectName | undefined) => {
    try {
      checkCursor(
        { kind: 'keyset', values: [value] },
        [{ column: of(kind), direction: 'asc' }],
        dialect && dialectNamed(dialect),
      )
      return true
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidArgument).with.property('field', 'page_token')
      return false
    }
  })
    .map((dialect) => dialect ?? 'memory')
    .join(' ')

describe('checkCursor', () => {
  const everywhere = 'memory postgres mysql mariadb sqlite'
  const cases: readonly (readonly [kind: PlanColumn['kind'], value: unknown, on: string])[] = [
    ['double', 1e300, everywhere],
    ['double', null, everywhere],
    ['double', NaN, 'postgres'],
    ['double', Infinity, 'postgres sqlite'],
    ['float', -Infinity, 'postgres sqlite'],
    ['float', NaN, 'postgres'],
    ['string', 'infinity', everywhere],
    ['int32', 2 ** 31 - 1, everywhere],
    ...(['int32', 'uint32', 'int64', 'uint64', 'duration', 'decimal'] as const).flatMap(
      (kind) =>
        [
          [kind, literal('-9223372036854775808'), 'postgres mysql mariadb sqlite'],
          [kind, literal('18446744073709551616'), 'postgres mysql mariadb sqlite'],
          [kind, literal('1.5'), 'postgres mysql mariadb sqlite'],
          [kind, literal('1e+300'), 'postgres sqlite'],
          [kind, literal('1e999999'), 'sqlite'],
          [kind, literal('9'.repeat(131_073)), 'sqlite'],
          [kind, literal(`0.${'1'.repeat(16_384)}`), 'sqlite'],
          [kind, literal("'abc'"), 'sqlite'],
          [kind, literal("X'00'"), 'sqlite'],
        ] as const,
    ),
    ['bool', literal('2'), 'mysql mariadb sqlite'],
    ['float', literal('1e+300'), 'postgres sqlite'],
    ['float', literal('9'.repeat(400)), 'sqlite'],
    ['float', literal('1e-400'), 'sqlite'],
    ['timestamp', literal('7'), 'sqlite'],
    ['enum', literal('7'), 'sqlite'],
    ['uuid', null, everywhere],
    ['timestamp', new Date(0), everywhere],
    ['timestamp', 5n, everywhere],
    ['timestamp', null, everywhere],
    ['timestamp', 'infinity', 'postgres sqlite'],
    ['timestamp', '-infinity', 'postgres sqlite'],
    ['timestamp', '+infinity', 'sqlite'],
    ['timestamp', 'now', 'sqlite'],
    ['timestamp', '0044-03-15 01:02:03.000004+00 BC', 'postgres sqlite'],
    ['timestamp', '4001-02-29 00:00:00+00 BC', 'postgres sqlite'],
    ['timestamp', '4000-02-29 00:00:00+00 BC', 'sqlite'],
    ['timestamp', '0001-02-29 00:00:00+00 BC', 'postgres sqlite'],
    ['timestamp', '4713-12-31 00:00:00+00 BC', 'sqlite'],
    ['timestamp', '12024-02-29 00:00:00+00', 'postgres sqlite'],
    ['timestamp', '12023-02-29 00:00:00+00', 'sqlite'],
    ['timestamp', '12000-02-29 00:00:00+00', 'postgres sqlite'],
    ['timestamp', '11900-02-29 00:00:00+00', 'sqlite'],
    ['timestamp', '294275-12-31 23:59:59.999999+00', 'postgres sqlite'],
    ['timestamp', '294276-01-01 00:00:00+00', 'sqlite'],
    ['timestamp', '0999-12-31 23:59:59+00', 'postgres sqlite'],
    ['timestamp', '0999-12-31 23:59:59', 'postgres mysql mariadb sqlite'],
    ['timestamp', '0000-00-00 00:00:00', 'mysql mariadb sqlite'],
    ['timestamp', '2024-02-30 00:00:00', 'sqlite'],
    ['timestamp', '2024-02-00 00:00:00', 'mysql mariadb sqlite'],
    ['timestamp', '0000-13-00 00:00:00', 'sqlite'],
    ['timestamp', '2024-00-32 00:00:00', 'sqlite'],
    ['timestamp', '2024-02-30 24:00:00', 'sqlite'],
    ['timestamp', '2024-02-29T01:02:03Z', 'sqlite'],
  ]
  for (const [kind, value, on] of cases)
    it(`takes ${value instanceof StoredLiteral ? `the literal ${value.text.slice(0, 20)}` : String(value)} in a ${kind} for a value of ${on}`, () =>
      expect(fit(kind, value as never)).to.equal(on))

  it('has nothing to say to an offset', () => {
    expect(() => checkCursor({ kind: 'offset', offset: 1 }, [])).to.not.throw()
  })
})
