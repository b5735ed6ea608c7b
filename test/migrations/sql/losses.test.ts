import { expect } from 'chai'
import { mysqlSyntax } from '../../../lib/migrations/mysql/sql/syntax.js'
import { postgresSyntax } from '../../../lib/migrations/postgres/sql/syntax.js'
import { notBroughtBack } from '../../../lib/migrations/sql/losses.js'
import { splitStatements } from '../../../lib/migrations/sql/split-statements.js'

describe('what a down migration does not bring back', () => {
  for (const [up, down, lost] of [
    ['ALTER TABLE t DROP COLUMN a', 'ALTER TABLE t ADD COLUMN a text', ['column a']],
    ['ALTER TABLE t DROP COLUMN a', 'ALTER TABLE t ADD COLUMN a text; UPDATE t SET a = b', []],
    ['ALTER TABLE s.t DROP COLUMN a', 'ALTER TABLE s.t ADD a text; UPDATE s.t AS x SET a = b', []],
    ['ALTER TABLE t DROP COLUMN a', 'ALTER TABLE t ADD COLUMN a text; UPDATE t SET b = a', ['column a']],
    ['ALTER TABLE t DROP a', 'ALTER TABLE t ADD COLUMN a int GENERATED ALWAYS AS (b + 1) STORED', []],
    ['ALTER TABLE t DROP a', 'ALTER TABLE t ADD COLUMN c int GENERATED ALWAYS AS (b) STORED', ['column a']],
    ['ALTER TABLE t DROP a', 'ALTER TABLE t ADD COLUMN a int DEFAULT (CAST(1 AS int))', ['column a']],
    ['DROP TABLE t', 'CREATE TABLE t (id int)', ['table t']],
    ['DROP TABLE t', 'CREATE TABLE t (id int); INSERT INTO t SELECT 1', []],
    ['DELETE FROM t WHERE a = 1', '-- they stay deleted', ['rows t']],
    ['CREATE TABLE t (id int); DELETE FROM t', 'DROP TABLE t', []],
    ['ALTER TABLE t ADD COLUMN a text', 'ALTER TABLE t DROP COLUMN a', []],
  ] as const)
    it(`of ${up} with ${down}: ${lost.join(', ') || 'nothing'}`, () => {
      for (const syntax of [postgresSyntax, mysqlSyntax]) {
        const of = (sql: string) => splitStatements(sql, syntax).statements
        expect(notBroughtBack(of(up), of(down)).map(({ what, name }) => `${what} ${name}`)).to.deep.equal(
          lost,
        )
      }
    })
})
