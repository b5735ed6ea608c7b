import { MigrationError } from '../../errors.js'
import type { Engine } from '../session/engine.js'
import type { AppliedVersion } from '../session/version-table.js'
import { backfillOf } from '../sql/backfill.js'
import { writtenTable } from '../session/effect.js'
import { splitStatements, type Statement } from '../sql/statements.js'
import { mysqlAddress, mysqlUrlProblem } from './address.js'
import { mysqlDump } from './dump-command.js'
import { mysqlEffects } from './effects.js'
import { mysqlFailures } from './failures.js'
import { mysqlLint } from './lint/mysql-lint.js'
import { mysqlScratch } from './scratch-sql.js'
import { openMysql } from './session.js'
import { mysqlSyntax } from './sql/syntax.js'
import { doneBefore, downOnMysql, isUnknown, refuseResumed, resumes, upOnMysql } from './step.js'
import { mysqlVersionTable } from './version-table-sql.js'
import { mysqlWalk } from './walk-sql.js'

/** MySQL and MariaDB. */
export const mysql: Engine = {
  dialect: 'mysql',
  schemes: ['mysql', 'mariadb'],
  syntax: mysqlSyntax,
  lint: mysqlLint,
  failures: mysqlFailures,
  versionTable: mysqlVersionTable,
  hasSearchFiles: false,
  hasTransactionalDdl: false,
  schemaOf: () => '',
  schemaProblems: (said) =>
    said === undefined
      ? []
      : ['schema is for PostgreSQL: on MySQL each module has the database of its connection string'],
  placeOf: () => 'in this database',
  apart: 'a database of its own',
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
  mayLeave:
    'its statement may be done: ashlar migrate down runs its way down, and takes an error of its first statement that says it is undone already for success',
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
  throw new MigrationError(
    'dirty',
    `${row.name}: ${leftText(row, statements.length)}: run ashlar migrate up first, with the file as it was or corrected from statement ` +
      `${row.statementsDone + 1} on, and then roll back; or undo by hand what is done, and run ashlar migrate resolve --rolled-back ${row.version}`,
    row.name,
  )
}

/** It is done together with its record. */
const writesRows = (statement: Statement | undefined): boolean =>
  statement !== undefined && writtenTable(statement) !== undefined

const leftText = ({ statementsDone: done }: AppliedVersion, of: number): string =>
  done === 0
    ? `its run ended without a report: statement 1 of ${of} may be done, and MySQL undoes no statement of a file`
    : `${doneBefore(done)} done, of ${of}, and MySQL undoes no statement of a file`
