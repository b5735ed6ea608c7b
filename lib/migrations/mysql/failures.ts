import type { EngineFailures } from '../session/engine-failures.js'

export const mysqlFailures: EngineFailures = {
  server: 'MySQL',
  failureOf: ({ errno, fatal, message }, code) => {
    if (DENIED.includes(code)) return 'denied'
    // Error 1290 covers every server option that prevents the statement.
    if (READ_ONLY.includes(code) || (code === '1290' && /read.only/i.test(message))) return 'readOnly'
    const isOfServer = typeof errno === 'number' && errno > 0
    return !isOfServer || fatal === true || GONE.includes(code) ? 'connection' : 'failed'
  },
  withoutValues: (message, code) =>
    QUOTES_VALUES.includes(code) ? message.replace(VALUE, '').replace(/(\bfor value) .*/s, '$1') : message,
  lockTimeouts: ['1205'],
  passing: ['1205', '1213', '1020'],
  // 1317 is MySQL's error, 1969 MariaDB's.
  stopped: ['1317', '1969'],
  duplicates: ['1050', '1060', '1061', '1068', '1304', '1359', '1826'],
  missing: ['1054', '1146'],
  rows: {
    ...{ 1062: 'unique', 1452: 'foreign', 1406: 'column', 1048: 'column', 1138: 'column', 1265: 'column' },
    // The check errors of MySQL and MariaDB, and values of the wrong type.
    ...{ 3819: 'check', 4025: 'check', 1264: 'other', 1292: 'other', 1366: 'other', 1411: 'other' },
  },
  detailed: [],
  hint: () => undefined,
  connection: [
    [/^(1045|1698)$/, { kind: 'login' }],
    [/^1044$/, { kind: 'mayNotConnect' }],
    [/^1049$/, { kind: 'noSuchDatabase' }],
    [/^(1040|1203)$/, { kind: 'noFreeConnection' }],
    [/^HANDSHAKE_NO_SSL_SUPPORT$/, { kind: 'noTls', server: 'MySQL' }],
    [/^PROTOCOL_/, { kind: 'notReached', server: 'MySQL' }],
  ],
}

/**
 * Matches values in an error message, up to the last phrase that names a key, column or function, or up to
 * the last quotation mark.
 */
const VALUE = /:? '.*'(?= (?:for (?:key|column|function)|value) )|:? '.*'|: ".*"/s
/**
 * Errors whose message contains values: duplicate keys, and values that are not a valid number, time, string
 * or JSON, or have no partition.
 */
const QUOTES_VALUES = ['1062', '1292', '1300', '1366', '1367', '1411', '1525', '1526', '1586', '3140', '3141']

/**
 * Missing privileges for commands, columns, routines and administration, including SUPER for triggers and
 * functions with a binary log.
 */
const DENIED = ['1044', '1045', '1142', '1143', '1227', '1370', '1419', '1698']
const READ_ONLY = ['1792', '1836']
/** Server shutdown, killed connection, truncated packets, and idle timeout. */
const GONE = ['1053', '1080', '1158', '1159', '1160', '1161', '1927', '3169', '4031']
