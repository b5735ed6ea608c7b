import { expect } from 'chai'
import { inspect } from 'node:util'
import { AshlarError, type Code } from '../../../../lib/errors.js'
import { constraintError } from '../../../../lib/persistence/engines/errors/constraint-error.js'
import { retryable } from '../../../../lib/persistence/engines/errors/deadlock-retries.js'
import { toCaller } from '../../../../lib/persistence/engines/errors/to-caller.js'
import { causeOf, toAshlarError } from '../../../../lib/server/observability/to-ashlar-error.js'

type Outcome = 'conflict' | 'nothing'

const CODE_OF: Readonly<Record<Outcome, Code>> = { conflict: 'ALREADY_EXISTS', nothing: 'INTERNAL' }

describe('constraintError never throws', () => {
  const throws = (): never => {
    throw new RangeError('gotcha')
  }
  const names = [
    'code',
    'errno',
    'sqlState',
    'message',
    'cause',
    'driverError',
    'fatal',
    'severity',
    'name',
    'stack',
  ]
  const trapped = (name: string, base: object = new Error('x')) =>
    Object.defineProperty(base, name, { get: throws, configurable: true })
  const { proxy: revoked, revoke } = Proxy.revocable(new Error('x'), {})
  revoke()
  const everyTrap = Object.fromEntries(
    Object.getOwnPropertyNames(Reflect).map((trap) => [trap, throws]),
  ) as ProxyHandler<object>
  const deep = (depth: number, innermost: unknown) => {
    let error: unknown = innermost
    for (let i = 0; i < depth; i++) error = new Error('x', { cause: error })
    return error
  }
  const endless = (): object => ({
    get cause() {
      return endless()
    },
    get driverError() {
      return endless()
    },
  })
  const pg = (fields: object) =>
    Object.assign(new Error('x'), { code: '23505', severity: 'ERROR', ...fields })

  const given: readonly (readonly [what: string, error: unknown, outcome: Outcome])[] = [
    ...names.map((name): [string, unknown, Outcome] => [
      `a getter ${name} that throws`,
      trapped(name),
      'nothing',
    ]),
    ...names
      .filter((name) => name !== 'code')
      .map((name): [string, unknown, Outcome] => [
        `a getter ${name} that throws beside a code that tells`,
        trapped(name, pg({})),
        'conflict',
      ]),
    ['a getter far inside that throws', deep(3, trapped('code')), 'nothing'],
    ['a revoked Proxy', revoked, 'nothing'],
    ['a revoked Proxy as a cause', new Error('x', { cause: revoked }), 'nothing'],
    ['a revoked Proxy as the driver', Object.assign(new Error('x'), { driverError: revoked }), 'nothing'],
    ['a code that is a revoked Proxy', pg({ code: revoked }), 'nothing'],
    ['a driver error beside a revoked Proxy', pg({ cause: revoked }), 'conflict'],
    ['a Proxy of which every trap throws', new Proxy({}, everyTrap), 'nothing'],
    ['a Proxy of a function, of which every trap throws', new Proxy(throws, everyTrap as never), 'nothing'],
    ['a Proxy of a driver error', new Proxy(pg({}), {}), 'conflict'],
    [
      'a Proxy that has everything',
      new Proxy({}, { has: () => true, get: () => new Proxy({}, everyTrap) }),
      'nothing',
    ],
    [
      'a Proxy whose every property is itself',
      new Proxy({}, { get: (_, __, self) => self as unknown }),
      'nothing',
    ],
    ['causes without an end', endless(), 'nothing'],
    ['a hundred thousand causes', deep(100_000, pg({})), 'nothing'],
    ['ten causes', deep(10, pg({})), 'conflict'],
    [
      'a cause that is its own',
      Object.assign(new Error('x'), {
        get cause() {
          return this
        },
      }),
      'nothing',
    ],
    ['a message of millions of characters', pg({ message: 'x'.repeat(20_000_000) }), 'conflict'],
    [
      "SQLite's, with a message of millions of characters",
      Object.assign(new Error(`SQLITE_CONSTRAINT: UNIQUE constraint failed: ${'a.b, '.repeat(4_000_000)}`), {
        code: 'SQLITE_CONSTRAINT',
        errno: 19,
      }),
      'conflict',
    ],
    [
      "MySQL's, with a message of millions of characters",
      Object.assign(new Error(`Access denied for user '${"'@'".repeat(6_000_000)}`), {
        errno: 1062,
        sqlState: '23000',
      }),
      'conflict',
    ],
    ['a code of millions of characters', pg({ code: '2'.repeat(20_000_000) }), 'nothing'],
    [
      'an object whose text throws',
      { toString: throws, [Symbol.toPrimitive]: throws, toJSON: throws },
      'nothing',
    ],
    [
      'a class whose instanceof throws',
      Object.create({
        get constructor() {
          return throws()
        },
      }),
      'nothing',
    ],
  ]
  for (const [what, error, outcome] of given)
    it(what, () => {
      expect(constraintError(error)?.code).to.equal(outcome === 'conflict' ? CODE_OF[outcome] : undefined)
      expect(retryable(error)).to.equal(false)
      expect(toCaller(error)).to.be.instanceOf(AshlarError)
      const told = toAshlarError(error, { expired: false, cancelled: false })
      expect(told.code).to.equal(CODE_OF[outcome])
      expect(causeOf(told)).to.have.all.keys('name', 'message', 'stack')
      expect(inspect(causeOf(told)).length).to.be.lessThan(100_000)
    })
})
