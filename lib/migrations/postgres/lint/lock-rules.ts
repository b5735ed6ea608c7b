import { detached, isOn, reindexed } from '../sql/non-transactional.js'
import { postgresSyntax } from '../sql/syntax.js'
import { Cursor, hasWords, isWord } from '../../sql/cursor.js'
import type { Rule } from '../../lint/rules/lint-rule.js'
import type { Statement } from '../../sql/split-statements.js'
import {
  addedColumns,
  addedConstraint,
  alteredColumn,
  alterTable,
  createIndex,
  dropped,
} from '../../sql/statement-shape.js'
import { actionsOnOldTables, toldBy } from '../../lint/rules/old-tables.js'

const NEXT_FILE = 'run VALIDATE CONSTRAINT in a file of its own'

/** PostgreSQL statements that lock a table exclusively while they read all of it. */
export const LOCK_RULES: readonly Rule[] = [
  {
    name: 'require-concurrent-index-creation',
    level: 'danger',
    dialect: 'postgres',
    check: (statement, { created }) => {
      const index = createIndex(statement)
      return index !== undefined && !index.isConcurrent && !created.has(index.table)
        ? 'stops every write to the table while the index is built: CREATE INDEX CONCURRENTLY, in a file of its own'
        : undefined
    },
  },
  {
    name: 'require-concurrent-index-deletion',
    level: 'danger',
    dialect: 'postgres',
    check: (statement) => {
      const drop = dropped(statement)
      return drop?.what === 'INDEX' && !drop.isConcurrent
        ? 'stops every read and write of the table while it waits: DROP INDEX CONCURRENTLY, in a file of its own'
        : undefined
    },
  },
  {
    name: 'require-concurrent-reindex',
    level: 'danger',
    dialect: 'postgres',
    bothWays: true,
    check: (statement) => {
      const reindex = reindexed(statement)
      return reindex !== undefined && !reindex.isConcurrent && reindex.what !== 'SYSTEM'
        ? 'stops every write to the table while the index is rebuilt: REINDEX … CONCURRENTLY, in a file of its own'
        : undefined
    },
  },
  {
    name: 'require-concurrent-partition-detach',
    level: 'danger',
    dialect: 'postgres',
    check: (statement) => {
      const detach = detached(statement)
      return detach !== undefined && !detach.isConcurrent && !detach.isFinal
        ? 'locks the whole partitioned table: DETACH PARTITION … CONCURRENTLY, in a file of its own'
        : undefined
    },
  },
  {
    name: 'adding-foreign-key-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: toldBy((action) => {
      const adds = addedColumns(action, postgresSyntax).some(({ definition }) =>
        hasWords(definition, 'REFERENCES'),
      )
      const constraint = addedConstraint(action)
      return adds || (constraint?.kind === 'FOREIGN' && !hasWords(constraint.definition, 'NOT', 'VALID'))
        ? `locks both tables while every row is checked: add it NOT VALID, then ${NEXT_FILE}`
        : undefined
    }),
  },
  {
    name: 'constraint-missing-not-valid',
    level: 'danger',
    dialect: 'postgres',
    check: (statement, file) => {
      const constraints = actionsOnOldTables(statement, file).flatMap(
        (action) => addedConstraint(action) ?? [],
      )
      const unchecked = constraints.some(
        ({ kind, definition }) =>
          (kind === 'FOREIGN' || kind === 'CHECK') && !hasWords(definition, 'NOT', 'VALID'),
      )
      if (unchecked) return `locks the table while every row is checked: add it NOT VALID, then ${NEXT_FILE}`
      return validates(statement) && file.ddlBefore.some((earlier) => addsNotValid(earlier, statement))
        ? `checks every row while the file still holds the lock of ADD CONSTRAINT … NOT VALID: ${NEXT_FILE}`
        : undefined
    },
  },
  {
    name: 'disallow-unique-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: toldBy((action) => {
      const constraint = addedConstraint(action)
      const isUnique =
        addedColumns(action, postgresSyntax).some(({ definition }) => hasWords(definition, 'UNIQUE')) ||
        (constraint?.kind === 'UNIQUE' && !hasWords(constraint.definition, 'USING', 'INDEX'))
      return isUnique
        ? 'builds its index under a lock: CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … UNIQUE USING INDEX'
        : undefined
    }),
  },
  {
    name: 'adding-exclusion-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: toldBy((action) =>
      addedConstraint(action)?.kind === 'EXCLUDE'
        ? 'locks the table while its index is built, and cannot be added NOT VALID: plan it for a quiet hour'
        : undefined,
    ),
  },
  {
    name: 'adding-not-null-field',
    level: 'danger',
    dialect: 'postgres',
    check: (statement, file) => {
      const sets = actionsOnOldTables(statement, file).some((action) =>
        hasWords(alteredColumn(action)?.change ?? [], 'SET', 'NOT', 'NULL'),
      )
      const table = alterTable(statement)?.table
      const isProven = () => file.ddlBefore.some((one) => validates(one) && alterTable(one)?.table === table)
      return sets && !isProven()
        ? 'locks the table while every row is read: add CHECK (… IS NOT NULL) NOT VALID first; a later file runs ' +
            'VALIDATE CONSTRAINT and then SET NOT NULL, which believes the constraint'
        : undefined
    },
  },
  {
    name: 'prefer-repack',
    level: 'danger',
    dialect: 'postgres',
    bothWays: true,
    check: ({ tokens }) => {
      const cursor = new Cursor(tokens)
      const isFull =
        cursor.take('VACUUM') && (isOn(cursor.inParentheses() ?? [], 'FULL') || cursor.sees('FULL'))
      return isFull || isWord(tokens[0], 'CLUSTER')
        ? 'rewrites the table and keeps everybody out of it meanwhile: plain VACUUM, or a tool such as pg_repack'
        : undefined
    },
  },
  {
    name: 'locking-a-table',
    level: 'danger',
    dialect: 'postgres',
    bothWays: true,
    check: ({ tokens }) =>
      isWord(tokens[0], 'LOCK')
        ? 'holds everybody up until the file has ended: leave locks to the statements'
        : undefined,
  },
]

const validates = (statement: Statement): boolean =>
  alterTable(statement)?.actions.some((action) => new Cursor(action).sees('VALIDATE', 'CONSTRAINT')) ?? false

/** Whether `earlier` adds, as NOT VALID, the constraint that `validating` checks. */
function addsNotValid(earlier: Statement, validating: Statement): boolean {
  const [before, now] = [alterTable(earlier), alterTable(validating)]
  return (
    before !== undefined &&
    before.table === now?.table &&
    before.actions.some((action) => hasWords(addedConstraint(action)?.definition ?? [], 'NOT', 'VALID'))
  )
}
