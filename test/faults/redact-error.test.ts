import { expect } from 'chai'
import { QueryFailedError } from 'typeorm'
import { ErrConflict, Internal } from '../../lib/errors.js'
import { redactError } from '../../lib/faults/redact-error.js'

const VALUE = 'alice@example.com'

describe('redactError', () => {
  const driverErrors: [name: string, fields: object, shown: object][] = [
    [
      'pg',
      {
        code: '23505',
        detail: `Key (email)=(${VALUE}) already exists.`,
        table: 'users',
        constraint: 'users_email',
      },
      { code: '23505' },
    ],
    [
      'mysql2',
      { code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000', sql: `INSERT '${VALUE}'`, sqlMessage: VALUE },
      { code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' },
    ],
    ['sqlite3', { code: 'SQLITE_CONSTRAINT', errno: 19 }, { code: 'SQLITE_CONSTRAINT', errno: 19 }],
    ['a forger', { code: VALUE, errno: VALUE, sqlState: `${VALUE}!` }, {}],
  ]
  for (const [name, fields, shown] of driverErrors) {
    it(`keeps name and codes alone of an error of ${name}, in whatever it is wrapped`, () => {
      const driver = Object.assign(new Error(`failed on ${VALUE}`), fields)
      const failed = new QueryFailedError(`SELECT '${VALUE}'`, [VALUE], driver)
      expect(redactError(driver)).to.deep.equal({ name: 'Error', ...shown })
      expect(redactError(failed)).to.include({ name: 'QueryFailedError', ...shown })
      const wrapped = redactError(new Internal(new ErrConflict(failed)))
      expect(wrapped).to.nested.include({
        name: 'Internal',
        'cause.name': 'ErrConflict',
        'cause.cause.name': 'QueryFailedError',
      })
      for (const redacted of [redactError(driver), redactError(failed), wrapped]) {
        expect(JSON.stringify(redacted)).not.to.match(/alice|SELECT|INSERT|users/)
      }
    })
  }

  it('takes what is not an error', () => {
    const thrown: [value: unknown, name: string][] = [
      [VALUE, 'string'],
      [undefined, 'undefined'],
      [null, 'object'],
      [{ message: VALUE }, 'Error'],
      [Object.assign(new Error(VALUE), { name: `${VALUE} ` }), 'Error'],
    ]
    for (const [value, name] of thrown) expect(redactError(value)).to.deep.equal({ name })
  })

  it('ends for an error that is its own cause', () => {
    const error = new Error(VALUE)
    error.cause = error
    expect(JSON.stringify(redactError(error)).match(/"name"/g)).to.have.lengthOf(5)
  })
})
