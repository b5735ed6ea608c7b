import { MigrationError } from '../../errors.js'
import type { Engine } from '../session/engine.js'
import type { AppliedVersion } from '../session/version-table.js'
import { splitStatements } from '../sql/statements.js'
import { mysqlFailures } from './failures.js'
import { mysqlLint } from './lint/mysql-lint.js'
import { mysqlScratch } from './scratch-sql.js'
import { openMysql } from './session.js'
import { mysqlSyntax } from './sql/syntax.js'
import { downOnMysql, upOnMysql } from './step.js'
import { mysqlVersionTable } from './version-table-sql.js'

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
  open: openMysql,
  up: upOnMysql,
  down: downOnMysql,
  isNeverApplied: (_step, row) => Promise.resolve().then(() => isNeverApplied(row)),
  isUndone: (_step, row) => Promise.resolve(row.error === undefined || row.statementsDone < -1),
  finishDown: downOnMysql,
  unusableIndexes: () => Promise.resolve([]),
  scratch: mysqlScratch,
}

function isNeverApplied(row: AppliedVersion): boolean {
  if (row.statementsDone === 0 && row.error !== undefined) return true
  const { statements } = splitStatements(row.upSql ?? '', mysqlSyntax)
  if (statements.length === 1) return false
  throw new MigrationError(
    'dirty',
    `${row.name}: ${row.statementsDone} of ${statements.length} statements are done and MySQL cannot undo them: ` +
      'run up first, with the file as it was or corrected, then roll back',
    row.name,
  )
}
