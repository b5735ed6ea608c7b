import { expect } from 'chai'
import { ENGINES } from '../../../lib/migrations/engines.js'
import { splitStatements, summaryOf } from '../../../lib/migrations/sql/split-statements.js'

type Case = readonly [sql: string, statements: readonly string[]]

const BOTH: readonly Case[] = [
  ['', []],
  [' ;;\n; ', []],
  ['SELECT 1', ['SELECT 1']],
  ['SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
  ["SELECT ';''; '; SELECT 2", ["SELECT ';''; '", 'SELECT 2']],
  ['-- a; b\nSELECT 1 -- c; d\n; SELECT 2', ['SELECT 1', 'SELECT 2']],
  ['/* ; */ SELECT /* ; */ 1', ['SELECT /* ; */ 1']],
  ["SELECT '--'; SELECT '/*'; SELECT 3", ["SELECT '--'", "SELECT '/*'", 'SELECT 3']],
]

const POSTGRES: readonly Case[] = [
  ['SELECT $$a;b$$; SELECT 2', ['SELECT $$a;b$$', 'SELECT 2']],
  ['SELECT $x$ $$;$$ ; $x$; SELECT 2', ['SELECT $x$ $$;$$ ; $x$', 'SELECT 2']],
  ['SELECT a$$b; SELECT c$$d', ['SELECT a$$b', 'SELECT c$$d']],
  ['SELECT $1; SELECT 2', ['SELECT $1', 'SELECT 2']],
  ["SELECT E'a\\';b'; SELECT 2", ["SELECT E'a\\';b'", 'SELECT 2']],
  ["SELECT 'a\\'; SELECT 2", ["SELECT 'a\\'", 'SELECT 2']],
  ["SELECT nameE'\\'; SELECT 2", ["SELECT nameE'\\'", 'SELECT 2']],
  ['SELECT U&\'\\0041;\'; SELECT U&"a;b"', ["SELECT U&'\\0041;'", 'SELECT U&"a;b"']],
  ['SELECT "a;""b;"; SELECT 2', ['SELECT "a;""b;"', 'SELECT 2']],
  ['/* a /* b; */ c; */ SELECT 1', ['SELECT 1']],
  ['SELECT 1 # 2; SELECT 3', ['SELECT 1 # 2', 'SELECT 3']],
  ['SELECT 1--2;\n; SELECT 3', ['SELECT 1', 'SELECT 3']],
  [
    'CREATE RULE r AS ON INSERT TO t DO ALSO (UPDATE a SET b = 1; DELETE FROM c); SELECT 2',
    ['CREATE RULE r AS ON INSERT TO t DO ALSO (UPDATE a SET b = 1; DELETE FROM c)', 'SELECT 2'],
  ],
  [
    'CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 ELSE 2 END; END; SELECT 2',
    [
      'CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 ELSE 2 END; END',
      'SELECT 2',
    ],
  ],
  [
    'CREATE OR REPLACE PROCEDURE p() LANGUAGE sql BEGIN ATOMIC INSERT INTO t VALUES (1); END; SELECT 2',
    ['CREATE OR REPLACE PROCEDURE p() LANGUAGE sql BEGIN ATOMIC INSERT INTO t VALUES (1); END', 'SELECT 2'],
  ],
  [
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1; BEGIN'; SELECT 2",
    ["CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1; BEGIN'", 'SELECT 2'],
  ],
  ['CREATE TABLE t (a int, "end" text); SELECT 2', ['CREATE TABLE t (a int, "end" text)', 'SELECT 2']],
  ['BEGIN; SELECT 1; END; SELECT 2', ['BEGIN', 'SELECT 1', 'END', 'SELECT 2']],
  ['SELECT größe, 名前 FROM t; SELECT 2', ['SELECT größe, 名前 FROM t', 'SELECT 2']],
]

const MYSQL: readonly Case[] = [
  ['SELECT `a;``b;`; SELECT 2', ['SELECT `a;``b;`', 'SELECT 2']],
  ["SELECT 'a\\';b'; SELECT 2", ["SELECT 'a\\';b'", 'SELECT 2']],
  ['SELECT "a\\";b"; SELECT 2', ['SELECT "a\\";b"', 'SELECT 2']],
  ['# a; b\nSELECT 1 # c; d\n; SELECT 2', ['SELECT 1', 'SELECT 2']],
  ['SELECT 1--2; SELECT 3', ['SELECT 1--2', 'SELECT 3']],
  ['/* a /* b; */ SELECT 1', ['SELECT 1']],
  ['/*!40101 SET NAMES utf8mb4 */; SELECT 2', ['/*!40101 SET NAMES utf8mb4 */', 'SELECT 2']],
  [
    'CREATE TABLE t (a int) COLLATE=/*M! x */ /*!80000 y */; SELECT 2',
    ['CREATE TABLE t (a int) COLLATE=/*M! x */ /*!80000 y */', 'SELECT 2'],
  ],
  ["SELECT $$a; SELECT '$$'", ['SELECT $$a', "SELECT '$$'"]],
  [
    'CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN IF NEW.x THEN SET NEW.y = 1; END IF; END; SELECT 2',
    [
      'CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN IF NEW.x THEN SET NEW.y = 1; END IF; END',
      'SELECT 2',
    ],
  ],
  [
    'CREATE DEFINER=`r`@`%` PROCEDURE p() BEGIN DECLARE i int; l: LOOP LEAVE l; END LOOP l; CASE i WHEN 1 THEN SELECT 1; END CASE; BEGIN END; WHILE 0 DO SELECT 1; END WHILE; END; SELECT 2',
    [
      'CREATE DEFINER=`r`@`%` PROCEDURE p() BEGIN DECLARE i int; l: LOOP LEAVE l; END LOOP l; CASE i WHEN 1 THEN SELECT 1; END CASE; BEGIN END; WHILE 0 DO SELECT 1; END WHILE; END',
      'SELECT 2',
    ],
  ],
  [
    'CREATE FUNCTION f() RETURNS int BEGIN RETURN CASE WHEN 1 THEN IF(1, 2, 3) ELSE NEW.end END; END; SELECT 2',
    [
      'CREATE FUNCTION f() RETURNS int BEGIN RETURN CASE WHEN 1 THEN IF(1, 2, 3) ELSE NEW.end END; END',
      'SELECT 2',
    ],
  ],
  [
    'BEGIN NOT ATOMIC SELECT 1; SELECT 2; END; SELECT 3',
    ['BEGIN NOT ATOMIC SELECT 1; SELECT 2; END', 'SELECT 3'],
  ],
  ['CREATE TABLE event (`begin` int); SELECT 2', ['CREATE TABLE event (`begin` int)', 'SELECT 2']],
  ['DELIMITER //\nSELECT 1', ['DELIMITER //\nSELECT 1']],
]

const TORN: readonly (readonly [
  dialect: 'postgres' | 'mysql',
  sql: string,
  line: number,
  problem: string,
])[] = [
  ['postgres', "SELECT 1;\nSELECT 'a;", 2, 'a string has no end'],
  ['postgres', 'SELECT 1;\n\nSELECT $x$ a $y$', 3, 'a $x$ string has no end'],
  ['postgres', '/* a /* b */', 1, 'a comment has no end'],
  ['postgres', 'SELECT "a', 1, 'a quoted name has no end'],
  ['postgres', 'SELECT (1; SELECT 2', 1, 'BEGIN, CASE or a parenthesis has no end'],
  ['postgres', 'CREATE FUNCTION f() BEGIN ATOMIC SELECT 1;', 1, 'BEGIN, CASE or a parenthesis has no end'],
  ['mysql', 'SELECT `a', 1, 'a quoted name has no end'],
  ['mysql', "SELECT 'a\\'", 1, 'a string has no end'],
  ['mysql', '\n/*!40101 SET a = 1', 2, 'a /*! comment has no end'],
  ['mysql', 'CREATE PROCEDURE p() BEGIN SELECT 1;', 1, 'BEGIN, CASE or a parenthesis has no end'],
]

describe('splitStatements', () => {
  for (const dialect of ['postgres', 'mysql'] as const)
    for (const [sql, statements] of [...BOTH, ...(dialect === 'postgres' ? POSTGRES : MYSQL)])
      it(`${dialect}: ${JSON.stringify(sql)}`, () => {
        const script = splitStatements(sql, ENGINES[dialect].syntax)
        expect(script.problem).to.equal(undefined)
        expect(script.statements.map(({ text }) => text)).to.deep.equal(statements)
      })

  for (const [dialect, sql, line, problem] of TORN)
    it(`${dialect}: ${JSON.stringify(sql)}: ${problem}`, () => {
      expect(splitStatements(sql, ENGINES[dialect].syntax).problem).to.deep.equal({ line, text: problem })
    })

  it('tells the line each statement starts on', () => {
    const { statements } = splitStatements(
      '-- one\nSELECT\n1;\n\n/* x\n */ SELECT 2; SELECT 3',
      ENGINES.postgres.syntax,
    )
    expect(statements.map(({ line }) => line)).to.deep.equal([2, 6, 6])
  })

  it('reads a megabyte in a string without trouble', () => {
    const text = `INSERT INTO t VALUES ('${"x''".repeat(400_000)}')`
    expect(splitStatements(`${text}; SELECT 2`, ENGINES.postgres.syntax).statements).to.have.length(2)
    expect(splitStatements(`${text}; SELECT 2`, ENGINES.mysql.syntax).statements).to.have.length(2)
  })
})

describe('summaryOf', () => {
  it('writes a statement as its file does, on one line', () => {
    const [statement] = splitStatements(
      'ALTER TABLE a.t\n  ADD CHECK (n >= 0 AND n<>7), -- why\n  ADD c varchar(255) DEFAULT\t-1;\nCREATE TABLE u (\n  id bigint\n)',
      ENGINES.postgres.syntax,
    ).statements
    expect(statement && summaryOf(statement, 200)).to.equal(
      'ALTER TABLE a.t ADD CHECK (n >= 0 AND n<>7), ADD c varchar(255) DEFAULT -1',
    )
  })

  it('keeps the marks around what only some servers run', () => {
    const sql = 'ALTER TABLE t ADD a int COLLATE /*M! one */ /*!80000 two */'
    const [statement] = splitStatements(`${sql} /* why */ NOT NULL`, ENGINES.mysql.syntax).statements
    expect(statement && summaryOf(statement)).to.equal(`${sql} NOT NULL`)
  })

  it('leaves literals out and cuts what is long', () => {
    const [short, long] = splitStatements(
      "INSERT INTO t (a, b) VALUES ('secret', 1); SELECT " + 'a, '.repeat(90) + 'b',
      ENGINES.postgres.syntax,
    ).statements
    expect(short && summaryOf(short)).to.equal("INSERT INTO t (a, b) VALUES ('…', 1)")
    expect(long && summaryOf(long)).to.have.length.at.most(72)
  })
})
