import { expect } from 'chai'
import { QueryFailedError } from 'typeorm'
import {
  Aborted,
  Cancelled,
  DeadlineExceeded,
  ErrConflict,
  ErrNotFound,
  ErrPreconditionFailed,
  Internal,
  Unavailable,
} from '../../../../lib/errors.js'
import { constraintError } from '../../../../lib/persistence/engines/errors/constraint-error.js'
import { retryable, withRetries } from '../../../../lib/persistence/engines/errors/deadlock-retries.js'
import type { Database } from '../../../../lib/persistence/engines/executor/executor.js'
import type { DialectName } from '../../../../lib/persistence/dialects/dialect.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { rejection } from '../../../support/rejection.js'
import { run, statement } from '../../../support/databases/statement.js'

type Outcome = 'conflict' | 'precondition' | 'nothing'

const outcomeOf = (error: unknown): Outcome => {
  const found = constraintError(error)
  if (found === undefined) return 'nothing'
  return found instanceof ErrConflict ? 'conflict' : 'precondition'
}

const TABLES = (dialect: DialectName): readonly string[] => {
  const text = dialect === 'postgres' || dialect === 'sqlite' ? 'text' : 'varchar(99)'
  return [
    'CREATE TABLE quarry (id int PRIMARY KEY)',
    `CREATE TABLE stone (id int PRIMARY KEY, code ${text} UNIQUE, name ${text} NOT NULL DEFAULT 'x', weight int CHECK (weight > 0), quarry int,
       CONSTRAINT from_quarry FOREIGN KEY (quarry) REFERENCES quarry (id))`,
    `CREATE TABLE bare (id int, name ${text} NOT NULL)`,
    'CREATE UNIQUE INDEX pair ON stone (weight, quarry)',
    'INSERT INTO quarry VALUES (1)',
    `INSERT INTO stone (id, code, weight, quarry) VALUES (1, 'a', 1, 1)`,
  ]
}

const violations: readonly (readonly [what: string, text: string, outcome: Outcome])[] = [
  ['a primary key taken', 'INSERT INTO stone (id) VALUES (1)', 'conflict'],
  ['a unique column taken', "INSERT INTO stone (id, code) VALUES (2, 'a')", 'conflict'],
  ['a unique pair taken', 'INSERT INTO stone (id, weight, quarry) VALUES (2, 1, 1)', 'conflict'],
  ['a unique column taken by an update', "UPDATE stone SET code = 'a' WHERE id <> 1", 'conflict'],
  ['a reference to nothing', 'INSERT INTO stone (id, quarry) VALUES (2, 99)', 'precondition'],
  ['a row referred to', 'DELETE FROM quarry WHERE id = 1', 'precondition'],
  ['NULL where none may be', 'INSERT INTO stone (id, name) VALUES (2, NULL)', 'precondition'],
  ['nothing where something must be', 'INSERT INTO bare (id) VALUES (2)', 'precondition'],
  ['NULL by an update', 'UPDATE stone SET name = NULL', 'precondition'],
  ['a check', 'INSERT INTO stone (id, weight) VALUES (2, 0)', 'precondition'],
  ['a table that is not there', 'SELECT 1 FROM nowhere', 'nothing'],
  ['a syntax error', 'SELEKT 1', 'nothing'],
  ['a function that is not there', 'SELECT no_such_function(1)', 'nothing'],
]

describeOn('constraintError', databases, ({ name, open }) => {
  let backend: OpenBackend
  let database: Database
  before(async () => {
    backend = await open([])
    database = backend.database!
    for (const text of TABLES(database.dialect.name)) await run(database, text)
    await run(database, "INSERT INTO stone (id, code) VALUES (50, 'free')")
  })
  after(() => backend?.close())

  for (const [what, text, outcome] of violations) {
    it(`says ${outcome} to ${what}`, async () => {
      const error = await rejection(run(database, text), Error)
      expect(outcomeOf(error)).to.equal(outcome)
      if (outcome !== 'nothing') expect(constraintError(error)?.cause).to.equal(error)
    })

    it(`says the same to what TypeORM wraps around ${what}`, async () => {
      const error = await rejection(backend.dataSource!.query(text), QueryFailedError)
      expect(outcomeOf(error)).to.equal(outcome)
    })
  }

  const forgeries = [
    'UNIQUE constraint failed: stone.code',
    'SQLITE_CONSTRAINT: UNIQUE constraint failed: stone.code',
    'duplicate key value violates unique constraint "stone_code_key"',
    "Duplicate entry 'a' for key 'code' 23505 1062 ER_DUP_ENTRY SQLSTATE 23000",
  ]
  for (const forged of forgeries) {
    it(`is not fooled by the value ${forged}`, async () => {
      // Each of these errors repeats the value in its text.
      const echo: Readonly<Record<DialectName, string>> = {
        sqlite: 'SELECT json_extract(?, ?) AS v',
        postgres: 'SELECT CAST(CAST(? AS text) || CAST(? AS text) AS integer)',
        mysql: 'INSERT INTO stone (id, weight) VALUES (7, CONCAT(?, ?))',
        mariadb: 'INSERT INTO stone (id, weight) VALUES (7, CONCAT(?, ?))',
      }
      const values = database.dialect.name === 'sqlite' ? ['{}', forged] : [forged, '']
      const { text } = statement(echo[database.dialect.name], database.dialect.name)
      const error = await rejection(backend.dataSource!.query(text, values), Error)
      expect(error.message).to.contain(forged.slice(0, 15))
      expect(outcomeOf(error)).to.equal('nothing')
      const check = await rejection(
        run(database, `INSERT INTO stone (id, name, weight) VALUES (8, ?, -1)`, [forged]),
        Error,
      )
      expect(outcomeOf(check)).to.equal('precondition')
    })
  }

  if (name === 'postgres') {
    it('says precondition to an exclusion', async () => {
      await run(database, 'CREATE TABLE booking (during int4range, EXCLUDE USING gist (during WITH &&))')
      await run(database, "INSERT INTO booking VALUES ('[1,5)')")
      const error = await rejection(run(database, "INSERT INTO booking VALUES ('[2,3)')"), Error)
      expect(outcomeOf(error)).to.equal('precondition')
    })
  }
})

describe('constraintError', () => {
  const plain: readonly (readonly [what: string, error: unknown, outcome: Outcome])[] = [
    ['nothing', undefined, 'nothing'],
    ['null', null, 'nothing'],
    ['text that says so', 'UNIQUE constraint failed', 'nothing'],
    ['an error whose text says so', new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: t.a'), 'nothing'],
    [
      "an error whose text is SQLite's, with another code",
      Object.assign(new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: t.a'), {
        code: 'SQLITE_ERROR',
        errno: 1,
      }),
      'nothing',
    ],
    ['a file system error', Object.assign(new Error('x'), { code: 'EEXIST', errno: -17 }), 'nothing'],
    ['an error number without a SQLSTATE', Object.assign(new Error('x'), { errno: 1062 }), 'nothing'],
    ['a code that is a number', Object.assign(new Error('x'), { code: 23505 }), 'nothing'],
    ['a code from a prototype', Object.assign(new Error('x'), { code: 'constructor' }), 'nothing'],
    [
      "MariaDB's misnamed CHECK",
      Object.assign(new Error('x'), { code: 'ER_CONSTRAINT_FAILED', errno: 4025, sqlState: '23000' }),
      'precondition',
    ],
    [
      "MySQL 8's CHECK",
      Object.assign(new Error('x'), { code: 'ER_CHECK_CONSTRAINT_VIOLATED', errno: 3819, sqlState: 'HY000' }),
      'precondition',
    ],
    [
      "MySQL's NOT NULL of an omitted column",
      Object.assign(new Error('x'), { code: 'ER_NO_DEFAULT_FOR_FIELD', errno: 1364, sqlState: 'HY000' }),
      'precondition',
    ],
    [
      'an ambiguous column, which shares a SQLSTATE',
      Object.assign(new Error('x'), { code: 'ER_NON_UNIQ_ERROR', errno: 1052, sqlState: '23000' }),
      'nothing',
    ],
    [
      'a cause three deep',
      new Error('a', { cause: new Error('b', { cause: Object.assign(new Error('c'), { code: '23505' }) }) }),
      'conflict',
    ],
    ['a conflict already told', new ErrConflict(), 'conflict'],
    ['another error already told', new Internal(Object.assign(new Error('x'), { code: '23505' })), 'nothing'],
    ['a missing row', new ErrNotFound(), 'nothing'],
    ...[1263, 1644].map((errno): [string, unknown, Outcome] => [
      `MySQL's ${errno}`,
      Object.assign(new Error('x'), { errno, sqlState: 'HY000' }),
      'precondition',
    ]),
    [
      "a trigger's own number under 45000",
      Object.assign(new Error('x'), { errno: 30_001, sqlState: '45000' }),
      'precondition',
    ],
    [
      'a trigger that says of itself what a duplicate is',
      Object.assign(new Error('x'), { errno: 1062, sqlState: '45000' }),
      'conflict',
    ],
    ['a trigger of PostgreSQL', Object.assign(new Error('x'), { code: 'P0001' }), 'precondition'],
    [
      'a kind of constraint that SQLite has and nobody lists',
      Object.assign(new Error('x'), { code: 'SQLITE_CONSTRAINT_VTAB' }),
      'precondition',
    ],
    [
      'a method of every object for a code',
      Object.assign(new Error('x'), { code: 'hasOwnProperty' }),
      'nothing',
    ],
    ['a boxed code', Object.assign(new Error('x'), { code: Object('23505') as unknown }), 'nothing'],
    [
      'a number that is not a number',
      Object.assign(new Error('x'), { errno: NaN, sqlState: '23000' }),
      'nothing',
    ],
    ['a function', () => '23505', 'nothing'],
    ['a symbol', Symbol('23505'), 'nothing'],
    ['a bigint', 23505n, 'nothing'],
    ['a number', 23505, 'nothing'],
    ['an array', [{ code: '23505' }], 'nothing'],
    [
      'an object without a prototype',
      Object.assign(Object.create(null) as object, { code: '23505' }),
      'conflict',
    ],
  ]
  for (const [what, error, outcome] of plain) {
    it(`says ${outcome} to ${what}`, () => {
      expect(outcomeOf(error)).to.equal(outcome)
    })
  }

  it('ends on errors that are their own cause', () => {
    const circular: Error & { cause?: unknown } = new Error('round')
    circular.cause = { driverError: circular }
    expect(constraintError(circular)).to.equal(undefined)
  })

  it('keeps a conflict the same', () => {
    const conflict = new ErrConflict()
    expect(constraintError(conflict)).to.equal(conflict)
  })
})

describe('retryable', () => {
  const cases: readonly (readonly [what: string, error: unknown, expected: boolean])[] = [
    ['a PostgreSQL serialization failure', { code: '40001' }, true],
    ['a PostgreSQL deadlock', { code: '40P01' }, true],
    ['a PostgreSQL lock timeout', { code: '55P03' }, true],
    ['a MySQL deadlock', { code: 'ER_LOCK_DEADLOCK', errno: 1213, sqlState: '40001' }, true],
    ['a MySQL lock timeout', { code: 'ER_LOCK_WAIT_TIMEOUT', errno: 1205, sqlState: 'HY000' }, true],
    [
      'a MariaDB row that changed since it was read',
      { code: 'ER_CHECKREAD', errno: 1020, sqlState: 'HY000' },
      true,
    ],
    ['a busy SQLite', { code: 'SQLITE_BUSY', errno: 5 }, true],
    ['a busy SQLite snapshot', { code: 'SQLITE_BUSY_SNAPSHOT' }, true],
    [
      'one wrapped by TypeORM',
      new QueryFailedError('', [], Object.assign(new Error('x'), { code: '40001' })),
      true,
    ],
    ['one told as Aborted', new Aborted(undefined, { code: '40001' }), true],
    ['one told as Internal', new Internal({ code: '40001' }), true],
    ['an Aborted of its own', new Aborted(), false],
    ['a cancelled statement', new Cancelled({ code: '40001' }), false],
    ['a deadline that passed', new DeadlineExceeded(undefined, { code: '40001' }), false],
    ['a commit that was cut off', new Unavailable('x', { code: '40001' }), false],
    ['a conflict', { code: '23505' }, false],
    ['a number without a SQLSTATE', { errno: 1213 }, false],
    ['text that says so', new Error('deadlock detected'), false],
    ['nothing', undefined, false],
  ]
  for (const [what, error, expected] of cases) {
    it(`is ${expected} for ${what}`, () => {
      expect(retryable(error)).to.equal(expected)
    })
  }
})

describe('withRetries', () => {
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  /** Fails with `error` so often, then answers how often it was called. */
  const failing = (times: number, error: unknown = deadlock) => {
    let calls = 0
    return () => (++calls <= times ? Promise.reject(error as Error) : Promise.resolve(calls))
  }

  it('runs at once when nothing is in the way', async () => {
    expect(await withRetries(failing(0))).to.equal(1)
  })

  it('tries three times more', async () => {
    expect(await withRetries(failing(3))).to.equal(4)
    const error = await rejection(withRetries(failing(4)), Aborted)
    expect(error.cause).to.equal(deadlock)
  })

  it('tries as often as it is told', async () => {
    expect(await withRetries(failing(5), { maxAttempts: 6 })).to.equal(6)
    await rejection(withRetries(failing(1), { maxAttempts: 1 }), Aborted)
  })

  it('passes every other error on as it is', async () => {
    const error = new TypeError('mine')
    expect(await rejection(withRetries(failing(1, error)), TypeError)).to.equal(error)
  })

  it('stops for a caller who went away', async () => {
    await rejection(withRetries(failing(1), { signal: AbortSignal.abort() }), Cancelled)
  })
})

describe('what a constraint error tells a caller', () => {
  it('is neither SQL nor a name of the database', () => {
    const driver = Object.assign(
      new Error('duplicate key value violates unique constraint "secret_table_key"'),
      {
        code: '23505',
        detail: 'Key (token)=(hunter2) already exists.',
      },
    )
    const told = constraintError(driver)
    expect([told?.message, told?.wireMessage, JSON.stringify(told?.details)].join()).not.to.match(
      /secret_table|hunter2|23505|duplicate key/,
    )
    expect(told).to.be.instanceOf(ErrConflict).and.not.instanceOf(ErrPreconditionFailed)
  })
})
