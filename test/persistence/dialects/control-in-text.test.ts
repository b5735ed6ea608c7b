import { expect } from 'chai'
import type { Dialect } from '../../../lib/persistence/dialects/dialect.js'
import { mariadb } from '../../../lib/persistence/dialects/mysql.js'
import { postgres } from '../../../lib/persistence/dialects/postgres.js'
import { sqlite } from '../../../lib/persistence/dialects/sqlite.js'
import { transactionControl } from '../../../lib/persistence/dialects/control-in-text.js'

const ALL = [postgres, mariadb, sqlite]

describe('transactionControl', () => {
  const cases: readonly [readonly Dialect[], string, string | undefined][] = [
    [ALL, 'commit', 'COMMIT'],
    [ALL, '\n -- why\n/* not */ Rollback to a', 'ROLLBACK TO A'],
    [ALL, 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'SET TRANSACTION ISOLATION'],
    [ALL, 'RELEASE a', 'RELEASE A'],
    [ALL, `SELECT 'COMMIT'`, undefined],
    [ALL, 'SELECT 1 AS commit', undefined],
    [ALL, 'UPDATE t SET begin = 1', undefined],
    [ALL, 'INSERT INTO commits VALUES (1)', undefined],
    [ALL, '', undefined],
    [ALL, 'committed', undefined],
    [ALL, `SELECT 'it''s -- ' /* ; COMMIT */`, undefined],
    [[postgres, mariadb], `SELECT ';' ; COMMIT`, 'COMMIT'],
    [[postgres, mariadb], ';;BEGIN', 'BEGIN'],
    [[postgres], 'SELECT $a$; COMMIT; $a$', undefined],
    [[postgres], `SELECT E'it\\'s; COMMIT'`, undefined],
    [[postgres], `SELECT '\\'; COMMIT`, 'COMMIT'],
    [[postgres], 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', 'SET SESSION CHARACTERISTICS'],
    [[postgres], 'PREPARE TRANSACTION $1', 'PREPARE TRANSACTION'],
    [[postgres], 'PREPARE a AS SELECT 1', undefined],
    [[postgres], 'CREATE TABLE a (b int)', undefined],
    [[mariadb], `SELECT 'it\\'s; COMMIT'`, undefined],
    [[mariadb], '/*!50000 COMMIT */', 'COMMIT'],
    [[mariadb], '/*M! COMMIT */', 'COMMIT'],
    [[mariadb], '# no\nSTART TRANSACTION', 'START TRANSACTION'],
    [[mariadb], 'CREATE TABLE a (b int)', 'CREATE TABLE A'],
    [[mariadb], 'CREATE TEMPORARY TABLE a (b int)', undefined],
    [[mariadb], 'DROP TEMPORARY TABLE a', undefined],
    [[mariadb], 'SET @@session.autocommit = 1', 'SET SESSION AUTOCOMMIT'],
    [[mariadb], 'SET @a = 1', undefined],
    [[sqlite], 'CREATE TRIGGER a AFTER INSERT ON b BEGIN DELETE FROM c; END', undefined],
    [[sqlite], 'END TRANSACTION', 'END TRANSACTION'],
  ]
  for (const [dialects, text, expected] of cases)
    for (const dialect of dialects)
      it(`${dialect.name}: ${JSON.stringify(text)}`, () =>
        void expect(transactionControl(text, dialect)).to.equal(expected))
})
