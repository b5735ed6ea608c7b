import type { EngineFailures } from '../session/engine-failures.js'

export const mysqlFailures: EngineFailures = {
  server: 'MySQL',
  failureOf: ({ errno, fatal, message }, code) => {
    if (DENIED.includes(code)) return 'denied'
    // 1290 covers any server option that prevents the statement.
    if (READ_ONLY.includes(code) || (code === '1290' && /read.only/i.test(message))) return 'readOnly'
    const isOfServer = typeof errno === 'number' && errno > 0
    return !isOfServer || fatal === true || GONE.includes(code) ? 'connection' : 'failed'
  },
  withoutValues: (message, code) =>
    QUOTES_VALUES.includes(code) ? message.replace(VALUE, '').replace(/(\bfor value) .*/s, '$1') : message,
  lockTimeouts: ['1205'],
  passing: ['1205', '1213', '1020'],
  // The first is MySQL's, the second MariaDB's.
  stopped: ['1317', '1969'],
  duplicates: ['1050', '1060', '1061', '1068', '1304', '1359', '1826'],
  missing: ['1054', '1146'],
  rows: {
    ...{ 1062: 'unique', 1452: 'foreign', 1406: 'column', 1048: 'column', 1138: 'column', 1265: 'column' },
    // A check of MySQL and of MariaDB; a value of the wrong type.
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

/** Up to the last place where the name of a key, a column or a function follows; else to the last quote. */
const VALUE = /:? '.*'(?= (?:for (?:key|column|function)|value) )|:? '.*'|: ".*"/s
/** Duplicate keys, and values that are not a number, time, text or JSON, or have no partition. */
const QUOTES_VALUES = ['1062', '1292', '1300', '1366', '1367', '1411', '1525', '1526', '1586', '3140', '3141']

/**
 * Rights on commands, columns and routines, and special rights; SUPER for triggers and functions with a
 * binary log.
 */
const DENIED = ['1044', '1045', '1142', '1143', '1227', '1370', '1419', '1698']
const READ_ONLY = ['1792', '1836']
/** Server shutdown, killed connection, truncated packets, idle timeout. */
const GONE = ['1053', '1080', '1158', '1159', '1160', '1161', '1927', '3169', '4031']
