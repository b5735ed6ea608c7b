import type { EngineFailures } from '../session/engine-failures.js'

const DEPENDED_ON = '2BP01'
const NOT_SUPPORTED = '0A000'
/** Citus reports this with the code of internal errors. */
const NO_TRIGGERS = 'triggers are not supported on distributed tables'
const SEARCH_VECTOR = 'search_vector'

export const postgresFailures: EngineFailures = {
  server: 'PostgreSQL',
  failureOf: ({ severity }, code) => {
    if (code === INSUFFICIENT_PRIVILEGE) return 'denied'
    if (code === READ_ONLY_TRANSACTION) return 'readOnly'
    // An error without a severity does not come from the server. The severity itself is localized.
    return severity === undefined || GONE.test(code) ? 'connection' : 'failed'
  },
  // The server's messages and quotation marks are localized. In a message about data, everything in quotes is
  // removed.
  withoutValues: (message, code) =>
    code.startsWith('22') ? message.replace(QUOTED, '…').replaceAll(BYTES, '…') : message,
  lockTimeouts: ['55P03'],
  passing: ['55P03', '40P01', '40001'],
  stopped: ['57014'],
  duplicates: ['42P06', '42P07', '42701', '42710', '42723'],
  missing: ['42703', '42P01'],
  rows: {
    ...{ 23502: 'column', 23503: 'foreign', 23505: 'unique', 23514: 'check', 22001: 'column' },
    // An exclusion constraint, and values of the wrong type.
    ...{ '23P01': 'other', '22P02': 'other', 22003: 'other', 22007: 'other', 22008: 'other' },
  },
  detailed: [DEPENDED_ON, NOT_SUPPORTED],
  hint: (code, schema, message) => {
    if (/^(42P01|3F000)$/.test(code)) return { kind: 'otherSchema', schema }
    if (message === NO_TRIGGERS) return { kind: 'unsafeTriggers' }
    if (code === NOT_SUPPORTED && message.includes(SEARCH_VECTOR)) return { kind: 'readBySearch' }
    const isRead = code === DEPENDED_ON || (code === NOT_SUPPORTED && message.includes(': '))
    return isRead ? { kind: 'dependedOn' } : undefined
  },
  connection: [
    [/^(28000|28P01)$/, { kind: 'login' }],
    [/^42501$/, { kind: 'mayNotConnect' }],
    [/^3D000$/, { kind: 'noSuchDatabase' }],
    [/^53300$/, { kind: 'noFreeConnection' }],
    [/^57P0[123]$/, { kind: 'starting' }],
  ],
}

const QUOTED = /["'`\u00ab\u00bb\u201e\u201c\u2018].*["'`\u00ab\u00bb\u201c\u201d\u2019]/s
const BYTES = /0x[\da-f]+(?: 0x[\da-f]+)*/gi
const INSUFFICIENT_PRIVILEGE = '42501'
const READ_ONLY_TRANSACTION = '25006'
/**
 * Matches connection errors, a shutdown, termination by an administrator, and sessions or transactions that
 * were idle for too long.
 */
const GONE = /^08|^57P0[1235]|^25P0[34]/
