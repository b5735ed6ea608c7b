import { stopped } from '../messages/problem.js'
import type { Engine } from '../session/engine.js'
import type { AppliedVersion } from '../session/version-table.js'
import { backfillOf } from '../sql/backfill.js'
import { writtenTable } from '../session/effect.js'
import { splitStatements, type Statement } from '../sql/split-statements.js'
import { mysqlAddress, mysqlUrlProblem } from './address.js'
import { mysqlDump } from './dump-command.js'
import { mysqlEffects } from './effects.js'
import { mysqlFailures } from './failures.js'
import { mysqlLint } from './lint/mysql-lint.js'
import { mysqlScratch } from './scratch-sql.js'
import { openMysql } from './session.js'
import { mysqlSyntax } from './sql/syntax.js'
import { downOnMysql, isUnknown, refuseResumed, resumes, upOnMysql } from './step.js'
import { mysqlVersionTable } from './version-table-sql.js'
import { mysqlWalk } from './walk-sql.js'

/** The engine for MySQL and MariaDB. */
export const mysql: Engine = {
  dialect: 'mysql',
  schemes: ['mysql', 'mariadb'],
  syntax: mysqlSyntax,
  lint: mysqlLint,
  failures: mysqlFailures,
  versionTable: mysqlVersionTable,
  fillsColumn: "column_default IS NOT NULL OR extra LIKE '%auto_increment%'",
  hasSearchFiles: false,
  hasTransactionalDdl: false,
  schemaOf: () => '',
  schemaProblems: (said) => (said === undefined ? [] : [{ kind: 'noSchemas' }]),
  placeOf: () => 'in this database',
  apart: 'its own database',
  schemas: undefined,
  urlProblem: mysqlUrlProblem,
  addressOf: mysqlAddress,
  open: openMysql,
  up: upOnMysql,
  down: downOnMysql,
  resumes,
  refuseResumed,
  isNeverApplied: (_step, row) => Promise.resolve().then(() => isNeverApplied(row)),
  leavesNothing: isNeverApplied,
  mayLeave: 'mayBeDone',
  isUndone: (_step, row) => Promise.resolve(isUndone(row)),
  isKnownUndone: isUndone,
  finishDown: downOnMysql,
  unusableIndexes: () => Promise.resolve([]),
  scratch: mysqlScratch,
  walk: mysqlWalk,
  effects: mysqlEffects,
  foreign: {
    columns: () => [
      `SELECT TABLE_SCHEMA AS schema_name, TABLE_NAME AS table_name, COLUMN_NAME AS column_name
       FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`,
      [],
    ],
    dump: mysqlDump,
  },
}

function isUndone(row: AppliedVersion): boolean {
  return isUnknown(row) || row.statementsDone < -1
}

function isNeverApplied(row: AppliedVersion): boolean {
  const script = splitStatements(row.upSql ?? '', mysqlSyntax)
  const { statements } = script
  if (row.statementsDone === 0 && (!isUnknown(row) || writesRows(statements[0])))
    return backfillOf(script) === undefined
  if (statements.length === 1) return false
  const { name: version, version: number, statementsDone: done } = row
  throw stopped('dirty', { kind: 'halfDone', version, number, done, of: statements.length })
}

/** Returns true for a statement that changes rows. It commits together with its record. */
const writesRows = (statement: Statement | undefined): boolean =>
  statement !== undefined && writtenTable(statement) !== undefined
