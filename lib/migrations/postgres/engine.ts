import { deleteVersion } from '../session/version-table.js'
import type { Engine } from '../session/engine.js'
import { postgresFailures } from './failures.js'
import { postgresLint } from './lint/postgres-lint.js'
import { recoverNonTransactional } from './recovery.js'
import { postgresScratch } from './scratch-sql.js'
import { openPostgres } from './session.js'
import { postgresSyntax } from './sql/syntax.js'
import { downOnPostgres, upOnPostgres } from './step.js'
import { unusableIndexes } from './unusable-indexes.js'
import { postgresVersionTable } from './version-table-sql.js'

export const postgres: Engine = {
  dialect: 'postgres',
  schemes: ['postgres', 'postgresql'],
  syntax: postgresSyntax,
  lint: postgresLint,
  failures: postgresFailures,
  versionTable: postgresVersionTable,
  hasSearchFiles: true,
  hasTransactionalDdl: true,
  schemaOf: (said, module) => said ?? module ?? 'public',
  schemaProblems: (_said, schema) => {
    if (schema === '' || schema.includes('\0') || Buffer.byteLength(schema) > 63)
      return ['schema is a name of 1 to 63 bytes']
    return /^(pg_|information_schema$)/.test(schema) ? [`schema ${schema} belongs to PostgreSQL`] : []
  },
  open: (options, purpose) => openPostgres(options, purpose === 'change'),
  up: upOnPostgres,
  down: downOnPostgres,
  isNeverApplied: async (step, row) => !(await recoverNonTransactional(step, row, true)),
  isUndone: (step, row) => recoverNonTransactional(step, row, true),
  // The statement is done; only its row is left.
  finishDown: ({ session }, { version }) => deleteVersion(session, version),
  unusableIndexes,
  scratch: postgresScratch,
}
