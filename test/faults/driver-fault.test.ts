import { expect } from 'chai'
import { QueryFailedError } from 'typeorm'
import { Internal } from '../../lib/errors.js'
import { DriverFault, errorForLog, withoutValues } from '../../lib/faults/driver-fault.js'

const said = (message: string, fields: object): Error => Object.assign(new Error(message), fields)
const pg = (code: string, message: string, more: object = {}) =>
  said(message, { code, severity: 'ERROR', ...more })
const FOREIGN_KEY =
  'Cannot add or update a child row: a foreign key constraint fails (`test`.`zy`, CONSTRAINT `zy_ibfk_1` FOREIGN KEY (`a`) REFERENCES `zz` (`a`))'
const mysql = (errno: number, message: string) => said(message, { code: 'ER_X', errno, sqlState: 'HY000' })
const sqlite = (message: string) => said(message, { code: 'SQLITE_CONSTRAINT', errno: 19 })

/** The names that are kept of the index that a write violated. */
const VIOLATED: Readonly<Record<string, object>> = {
  'a constraint of PostgreSQL': { columns: ['a'] },
  'a constraint of SQLite': { table: 't', columns: ['a', 'b'] },
}

describe('DriverFault', () => {
  const cases: readonly (readonly [what: string, error: unknown, message: string])[] = [
    ['a column of PostgreSQL', pg('42703', 'column "x" does not exist'), 'column "x" does not exist'],
    [
      'a constraint of PostgreSQL',
      pg('23505', 'duplicate key in "k"', { detail: 'Key (a)=(v)' }),
      'duplicate key in "k"',
    ],
    ['a value of PostgreSQL', pg('22P02', 'invalid integer: "v"'), 'the database returned 22P02'],
    ['a statement of PostgreSQL', pg('42601', 'syntax error at or near "v"'), 'the database returned 42601'],
    [
      'what a function raises',
      pg('23514', 'bad row (v)', { file: 'pl_exec.c' }),
      'the database returned 23514',
    ],
    ['a column of MySQL', mysql(1054, "Unknown column 'x' in 'SELECT'"), "Unknown column 'x' in 'SELECT'"],
    ['what a trigger of MySQL signals', mysql(1213, 'v'), 'the database returned ER_X'],
    [
      "what it signals in MySQL's own words",
      mysql(1048, "Column 'v v' cannot be null"),
      'the database returned ER_X',
    ],
    ['a foreign key of MySQL', mysql(1452, FOREIGN_KEY), FOREIGN_KEY],
    ['a value of MySQL', mysql(1062, "Duplicate entry 'v'"), 'the database returned ER_X'],
    [
      'a constraint of SQLite',
      sqlite('SQLITE_CONSTRAINT: UNIQUE constraint failed: t.a, t.b'),
      'SQLITE_CONSTRAINT: UNIQUE constraint failed: t.a, t.b',
    ],
    [
      'a check of SQLite',
      sqlite("SQLITE_CONSTRAINT: CHECK constraint failed: a <> 'v'"),
      'SQLITE_CONSTRAINT: CHECK constraint failed: a',
    ],
    ['what a trigger raises', sqlite('SQLITE_CONSTRAINT: v'), 'the database returned SQLITE_CONSTRAINT'],
    [
      'a socket',
      said('connect ECONNREFUSED 127.0.0.1:1', { code: 'ECONNREFUSED', syscall: 'connect' }),
      'connect ECONNREFUSED 127.0.0.1:1',
    ],
    ['anything else', new Error('v'), 'the database returned an error'],
    ['no error at all', 'v', 'the database returned an error'],
  ]
  for (const [what, error, message] of cases)
    it(`says of ${what}: ${message}`, () => {
      const fault = new DriverFault(error)
      expect(fault.message).to.equal(message)
      expect(Object.keys(fault)).to.have.members(
        ['name', 'code', 'errno', 'sqlState', 'violatedIndex', 'violatedReference'].filter(
          (key) =>
            key === 'name' ||
            key in Object(error) ||
            (key === 'violatedIndex' && what in VIOLATED) ||
            (key === 'violatedReference' &&
              /^a foreign key of (?:MySQL|MariaDB|SQLite|PostgreSQL)/.test(what)),
        ),
      )
      expect(fault.violatedIndex).to.deep.equal(VIOLATED[what])
    })
})

describe('withoutValues', () => {
  it('finds the driver in what TypeORM wraps around it', () => {
    const failed = new QueryFailedError('SELECT', ['v'], mysql(1062, "Duplicate entry 'v'"))
    expect(withoutValues(failed))
      .to.be.instanceOf(DriverFault)
      .and.include({ errno: 1062, sqlState: 'HY000' })
  })

  it('leaves everything else as it is', () => {
    for (const error of [
      new TypeError('x'),
      new Internal(new Error('x')),
      new DriverFault('x'),
      'x',
      undefined,
    ])
      expect(withoutValues(error)).to.equal(error)
  })
})

describe('errorForLog', () => {
  it('is a plain object without what a driver hung on its error', () => {
    const driver = Object.assign(new Error('Key (email)=(alice) exists'), {
      code: '22000',
      severity: 'ERROR',
    })
    const failed = new QueryFailedError('SELECT alice', ['alice'], driver)
    const shown = errorForLog(failed)
    expect(Object.getPrototypeOf(shown)).to.equal(Object.prototype)
    expect(shown).to.include({ name: 'DriverFault' })
    expect(JSON.stringify({ name: shown.name, message: shown.message })).not.to.include('alice')
    expect(Object.keys(shown)).to.deep.equal(['name', 'message', 'stack'])
  })

  it('says nothing of what was thrown and is not an error', () => {
    for (const [thrown, name] of [
      ['alice', 'string'],
      [{ password: 'alice' }, 'object'],
      [undefined, 'undefined'],
    ] as const)
      expect(errorForLog(thrown)).to.deep.equal({ name })
  })
})
