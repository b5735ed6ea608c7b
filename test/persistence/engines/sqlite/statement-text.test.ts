import { expect } from 'chai'
import { readSqliteText } from '../../../../lib/persistence/engines/sqlite/statement-text.js'

const cases: readonly (readonly [
  text: string,
  returnsRows: boolean,
  placeholders: number,
  several: boolean,
])[] = [
  ['SELECT 1', true, 0, false],
  ['  select ? , ?', true, 2, false],
  ['VALUES (?)', true, 1, false],
  ['PRAGMA foreign_keys', true, 0, false],
  ['EXPLAIN QUERY PLAN DELETE FROM t', true, 0, false],
  ['INSERT INTO t VALUES (?, ?)', false, 2, false],
  ['INSERT INTO t VALUES (?) RETURNING id', true, 1, false],
  ['UPDATE t SET a = ? WHERE b = ? returning a', true, 2, false],
  [`INSERT INTO t VALUES ('RETURNING')`, false, 0, false],
  ['INSERT INTO t ("returning") VALUES (1)', false, 0, false],
  ['INSERT INTO t (`returning`, [returning]) VALUES (1, 2)', false, 0, false],
  ['DELETE FROM t -- RETURNING id', false, 0, false],
  ['DELETE FROM t /* RETURNING id */', false, 0, false],
  ['DELETE FROM t WHERE a IN (SELECT b FROM u)', false, 0, false],
  ['WITH x AS (SELECT 1) SELECT * FROM x', true, 0, false],
  ['WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x', false, 0, false],
  ['WITH x AS (INSERT INTO u VALUES (1)) SELECT 1', true, 0, false],
  ['CREATE TABLE t (a TEXT)', false, 0, false],
  ['BEGIN IMMEDIATE', false, 0, false],
  [`SELECT '?', "?", ?`, true, 1, false],
  [`SELECT 'it''s ?' || ?`, true, 1, false],
  ['SELECT ?2, ?1', true, 2, false],
  ['SELECT ?2, ?', true, 3, false],
  ['SELECT :a, :b, :a', true, 2, false],
  ['SELECT ? -- ?', true, 1, false],
  ['SELECT 1;', true, 0, false],
  ['SELECT 1; -- the end', true, 0, false],
  ['SELECT 1; SELECT 2', true, 0, true],
  [`SELECT ';' ; DROP TABLE t`, true, 0, true],
  ['CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM u; DELETE FROM v; END', false, 0, false],
  ['CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM u; END', false, 0, false],
  ['', false, 0, false],
]

describe('readSqliteText', () => {
  for (const [text, returnsRows, placeholders, several] of cases) {
    it(`reads ${text === '' ? 'nothing' : text}`, () => {
      expect(readSqliteText(text)).to.deep.equal({ returnsRows, placeholders, several })
    })
  }
})
