import { expect } from 'chai'
import { ENGINES } from '../../../lib/migrations/engines.js'
import { sessionError } from '../../../lib/migrations/session/session-error.js'

/** As the drivers make them. */
const POSTGRES: readonly (readonly [name: string, fields: object, failure: string])[] = [
  ['a syntax error', { code: '42601', severity: 'ERROR' }, 'failed'],
  ['a syntax error in German', { code: '42601', severity: 'FEHLER' }, 'failed'],
  ['a missing right', { code: '42501', severity: 'ERROR' }, 'denied'],
  ['a read-only transaction', { code: '25006', severity: 'ERREUR' }, 'readOnly'],
  ['an administrator who ended the session', { code: '57P01', severity: 'FATAL' }, 'connection'],
  ['a shutdown in French', { code: '57P02', severity: 'FATAL' }, 'connection'],
  ['a session that was idle for too long', { code: '57P05', severity: 'FATAL' }, 'connection'],
  ['a transaction that was open for too long', { code: '25P04', severity: 'FATAL' }, 'connection'],
  ['a connection that the network cut', { code: 'ECONNRESET' }, 'connection'],
  ['a pipe that is broken', { code: 'EPIPE' }, 'connection'],
  ['a connection that ended', {}, 'connection'],
]
const MYSQL: readonly (readonly [name: string, fields: object, failure: string, message?: string])[] = [
  ['a syntax error', { code: 'ER_PARSE_ERROR', errno: 1064, sqlState: '42000' }, 'failed'],
  ['a missing right', { errno: 1142 }, 'denied'],
  ['a right that nobody has', { errno: 1227 }, 'denied'],
  [
    'a read-only server',
    { errno: 1290 },
    'readOnly',
    'The MariaDB server is running with the --read-only option',
  ],
  [
    'a server without grants',
    { errno: 1290 },
    'failed',
    'The server is running with the --skip-grant-tables option',
  ],
  ['a read-only transaction', { errno: 1792 }, 'readOnly'],
  ['a session that was killed', { errno: 1927 }, 'connection'],
  ['a shutdown', { errno: 1053 }, 'connection'],
  ['a connection that was lost', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }, 'connection'],
  ['a connection that the network cut', { code: 'ECONNRESET', errno: -104, fatal: true }, 'connection'],
]

describe('sessionError', () => {
  for (const [dialect, rows] of [
    ['postgres', POSTGRES],
    ['mysql', MYSQL],
  ] as const)
    for (const [name, fields, failure, message = 'said the server'] of rows)
      it(`takes ${name} on ${dialect} for ${failure}`, () => {
        const error = sessionError(
          Object.assign(new Error(message), fields),
          ENGINES[dialect].failures,
          `${dialect}://u@h/d`,
        )
        expect(error.failure).to.equal(failure)
        expect(error.message).to.equal(message)
      })

  for (const [dialect, fields, said, kept] of [
    [
      'postgres',
      { code: '22P02' },
      'invalid input syntax for type bigint: "a@b"',
      'invalid input syntax for type bigint: …',
    ],
    [
      'postgres',
      { code: '22P02' },
      'ungültige Eingabe für Typ bigint: »a@b«',
      'ungültige Eingabe für Typ bigint: …',
    ],
    [
      'postgres',
      { code: '22003' },
      'value "a@b" is out of range for type integer',
      'value … is out of range for type integer',
    ],
    ['postgres', { code: '22007' }, 'invalid value "a@b" for "yyyy"', 'invalid value …'],
    [
      'postgres',
      { code: '22021' },
      'invalid byte sequence for encoding "UTF8": 0xa3 0x40',
      'invalid byte sequence for encoding …: …',
    ],
    ['postgres', { code: '42703' }, 'column "a@b" does not exist', 'column "a@b" does not exist'],
    [
      'mysql',
      { errno: 1292 },
      "Truncated incorrect INTEGER value: 'a@b'",
      'Truncated incorrect INTEGER value',
    ],
    [
      'mysql',
      { errno: 1366 },
      "Incorrect integer value: 'a@b' for column 'n' at row 1",
      "Incorrect integer value for column 'n' at row 1",
    ],
    [
      'mysql',
      { errno: 1366 },
      "Incorrect integer value: 'x' for column 'a@b' for column `d`.`t`.`n` at row 1",
      'Incorrect integer value for column `d`.`t`.`n` at row 1',
    ],
    ['mysql', { errno: 1526 }, 'Table has no partition for value 42', 'Table has no partition for value'],
    [
      'mysql',
      { errno: 1406 },
      "Data too long for column 'n' at row 1",
      "Data too long for column 'n' at row 1",
    ],
  ] as const)
    it(`keeps no value of: ${said}`, () => {
      const error = Object.assign(new Error(said), { severity: 'ERROR' }, fields)
      expect(sessionError(error, ENGINES[dialect].failures, `${dialect}://u@h/d`).message).to.equal(kept)
    })

  it('repeats neither the password nor the values of a row', () => {
    const url = 'mysql://ada:correct-horse@db/app'
    const said = "Duplicate entry 'ada@example.com' for key 'mail' at mysql://ada:correct-horse@db/app"
    const { message } = sessionError(
      Object.assign(new Error(said), { errno: 1062 }),
      ENGINES.mysql.failures,
      url,
    )
    expect(message).to.match(/^Duplicate entry for key 'mail'/)
    expect(message).to.not.match(/correct-horse|example/)
  })
})
