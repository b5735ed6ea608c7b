import { VERSION_TABLE } from '../files/framework-tables.js'
import { type AppliedVersion, deleteVersion } from '../session/version-table.js'
import type { Engine } from '../session/engine.js'
import { backfillOf } from '../sql/backfill.js'
import { splitStatements } from '../sql/split-statements.js'
import { postgresAddress, postgresUrlProblem } from './address.js'
import { postgresDump } from './dump-command.js'
import { postgresEffects } from './effects.js'
import { postgresFailures } from './failures.js'
import { postgresLint } from './lint/postgres-lint.js'
import { recoverNonTransactional } from './recovery.js'
import { postgresScratch } from './scratch-sql.js'
import { openPostgres } from './session.js'
import { nonTransactionalOf } from './sql/non-transactional.js'
import { postgresSyntax } from './sql/syntax.js'
import { downOnPostgres, resumes, upOnPostgres } from './step.js'
import { unusableIndexes } from './unusable-indexes.js'
import { postgresVersionTable } from './version-table-sql.js'
import { postgresWalk } from './walk-sql.js'

export const postgres: Engine = {
  dialect: 'postgres',
  schemes: ['postgres', 'postgresql'],
  syntax: postgresSyntax,
  lint: postgresLint,
  failures: postgresFailures,
  versionTable: postgresVersionTable,
  fillsColumn: 'FALSE',
  hasSearchFiles: true,
  hasTransactionalDdl: true,
  schemaOf: (said, module) => said ?? module ?? 'public',
  schemaProblems: (_said, schema) => {
    if (schema === '' || schema.includes('\0') || Buffer.byteLength(schema) > 63)
      return [{ kind: 'badSchema' }]
    return /^(pg_|information_schema$)/.test(schema) ? [{ kind: 'schemaOfServer', schema }] : []
  },
  placeOf: (schema) => `in the schema ${schema} (--module or --schema names another one)`,
  apart: 'its own schema with --module or --schema',
  schemas: {
    all: `SELECT nspname AS name FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
      WHERE relname = '${VERSION_TABLE}' AND relkind = 'r' ORDER BY nspname`,
    versionsIn: (schema) => `SELECT name FROM "${schema.replaceAll('"', '""')}".${VERSION_TABLE}`,
  },
  urlProblem: postgresUrlProblem,
  addressOf: postgresAddress,
  open: (options, purpose) => openPostgres(options, purpose === 'change'),
  up: upOnPostgres,
  down: downOnPostgres,
  resumes,
  refuseResumed: () => undefined,
  isNeverApplied: async (step, row) => !isBackfill(row) && !(await recoverNonTransactional(step, row, true)),
  mayLeave: 'dropsIndex',
  // If the file ran in a transaction, all of its statements were rolled back.
  leavesNothing: (row) => !isBackfill(row) && isTransactional(row.upSql),
  isUndone: (step, row) => recoverNonTransactional(step, row, true),
  isKnownUndone: (row) => (isTransactional(row.downSql) ? false : undefined),
  // The statement has completed; only its row remains.
  finishDown: ({ session }, { version }) => deleteVersion(session, version),
  unusableIndexes,
  scratch: postgresScratch,
  walk: postgresWalk,
  effects: postgresEffects,
  foreign: {
    columns: (schema) => [
      `SELECT table_schema AS schema_name, table_name, column_name FROM information_schema.columns
       WHERE table_schema = ? OR (table_schema = 'drizzle' AND ? = 'public')`,
      [schema, schema],
    ],
    dump: postgresDump,
  },
}

const isBackfill = (row: AppliedVersion): boolean =>
  backfillOf(splitStatements(row.upSql ?? '', postgresSyntax)) !== undefined

const isTransactional = (sql = ''): boolean =>
  !splitStatements(sql, postgresSyntax).statements.some((one) => nonTransactionalOf(one) !== undefined)
