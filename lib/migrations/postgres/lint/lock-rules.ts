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
import { actionsOnOldTables, reportedBy } from '../../lint/rules/old-tables.js'

/** PostgreSQL statements that lock a table exclusively while they read all of it. */
export const LOCK_RULES: readonly Rule[] = [
  {
    name: 'require-concurrent-index-creation',
    level: 'danger',
    dialect: 'postgres',
    check: (statement, { created }) => {
      const index = createIndex(statement)
      return index !== undefined && !index.isConcurrent && !created.has(index.table)
    },
  },
  {
    name: 'require-concurrent-index-deletion',
    level: 'danger',
    dialect: 'postgres',
    check: (statement) => {
      const drop = dropped(statement)
      return drop?.what === 'INDEX' && !drop.isConcurrent
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
    },
  },
  {
    name: 'require-concurrent-partition-detach',
    level: 'danger',
    dialect: 'postgres',
    check: (statement) => {
      const detach = detached(statement)
      return detach !== undefined && !detach.isConcurrent && !detach.isFinal
    },
  },
  {
    name: 'adding-foreign-key-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: reportedBy((action) => {
      const adds = addedColumns(action, postgresSyntax).some(({ definition }) =>
        hasWords(definition, 'REFERENCES'),
      )
      const constraint = addedConstraint(action)
      return adds || (constraint?.kind === 'FOREIGN' && !hasWords(constraint.definition, 'NOT', 'VALID'))
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
      const isValidated =
        validates(statement) && file.ddlBefore.some((earlier) => addsNotValid(earlier, statement))
      return (unchecked || isValidated) && { isValidated: !unchecked }
    },
  },
  {
    name: 'disallow-unique-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: reportedBy((action) => {
      const constraint = addedConstraint(action)
      const isUnique =
        addedColumns(action, postgresSyntax).some(({ definition }) => hasWords(definition, 'UNIQUE')) ||
        (constraint?.kind === 'UNIQUE' && !hasWords(constraint.definition, 'USING', 'INDEX'))
      return isUnique
    }),
  },
  {
    name: 'adding-exclusion-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: reportedBy((action) => addedConstraint(action)?.kind === 'EXCLUDE'),
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
    },
  },
  {
    name: 'locking-a-table',
    level: 'danger',
    dialect: 'postgres',
    bothWays: true,
    check: ({ tokens }) => isWord(tokens[0], 'LOCK'),
  },
]

const validates = (statement: Statement): boolean =>
  alterTable(statement)?.actions.some((action) => new Cursor(action).sees('VALIDATE', 'CONSTRAINT')) ?? false

/** Returns true if `earlier` adds, as NOT VALID, the constraint that `validating` checks. */
function addsNotValid(earlier: Statement, validating: Statement): boolean {
  const [before, now] = [alterTable(earlier), alterTable(validating)]
  return (
    before !== undefined &&
    before.table === now?.table &&
    before.actions.some((action) => hasWords(addedConstraint(action)?.definition ?? [], 'NOT', 'VALID'))
  )
}
