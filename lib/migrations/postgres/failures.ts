import { VERSION_TABLE } from '../files/framework-tables.js'
import type { EngineFailures } from '../session/engine-failures.js'

export const postgresFailures: EngineFailures = {
  server: 'PostgreSQL',
  failureOf: ({ severity }, code) => {
    if (code === INSUFFICIENT_PRIVILEGE) return 'denied'
    if (code === READ_ONLY_TRANSACTION) return 'readOnly'
    // An error without a severity does not come from the server. The server writes its severity in its own
    // language.
    return severity === undefined || GONE.test(code) ? 'connection' : 'failed'
  },
  // The server writes in its own language and with its own quotes: of a message about data, nothing that is
  // quoted is kept.
  withoutValues: (message, code) =>
    code.startsWith('22') ? message.replace(QUOTED, '…').replaceAll(BYTES, '…') : message,
  lockTimeouts: ['55P03'],
  passing: ['55P03', '40P01', '40001'],
  stopped: ['57014'],
  duplicates: ['42P06', '42P07', '42701', '42710', '42723'],
  missing: ['42703', '42P01'],
  rows: {
    ...{ 23502: 'column', 23503: 'foreign', 23505: 'unique', 23514: 'check', 22001: 'column' },
    // An exclusion; what is no value of the type.
    ...{ '23P01': 'other', '22P02': 'other', 22003: 'other', 22007: 'other', 22008: 'other' },
  },
  hint: (code, schema) => {
    if (/^(42P01|3F000)$/.test(code))
      return `A name without a schema is looked for in the schema ${schema} of the module, and among extensions: --module or --schema names another schema`
    return code === NOT_SUPPORTED ? SEARCHED : ''
  },
  writable:
    'The database takes no writes: hand over the address of the primary, or turn default_transaction_read_only off for this database and user',
  rights: (purpose, schema) =>
    purpose === 'read'
      ? `grant it USAGE on schema ${schema} and SELECT on ${schema}.${VERSION_TABLE}`
      : `connect as the owner of schema ${schema} and of its tables, because only their owner alters or drops tables; ` +
        `a user who owns none needs USAGE and CREATE on the schema (CREATE on the database while it is not there), SELECT, ` +
        `INSERT, UPDATE and DELETE on ${schema}.${VERSION_TABLE} where it is there, and what the files need: grant it these`,
  connection: [
    [
      /^(28000|28P01)$/,
      'check user and password of the connection string, and that the server lets them in from here',
    ],
    [/^42501$/, 'let the owner of the database grant the user the right to connect to it'],
    [/^3D000$/, 'create the database first, or name another'],
    [/^53300$/, 'run again when connections are free'],
    [/^57P0[123]$/, 'run again when the server has started'],
  ],
}

const QUOTED = /["'`\u00ab\u00bb\u201e\u201c\u2018].*["'`\u00ab\u00bb\u201c\u201d\u2019]/s
const BYTES = /0x[\da-f]+(?: 0x[\da-f]+)*/gi
const NOT_SUPPORTED = '0A000'
/** The most usual cause in a migration: another type of a column that the stored vector of a search reads. */
const SEARCHED =
  'Where search_vector reads the column, roll the versions of search back first (migrate down --to and the last version before them), and run up again: it makes the vector anew'
const INSUFFICIENT_PRIVILEGE = '42501'
const READ_ONLY_TRANSACTION = '25006'
/**
 * Connection errors, a shutdown or an administrator, an idle session or a transaction that was open for too
 * long.
 */
const GONE = /^08|^57P0[1235]|^25P0[34]/
