import type { Rule } from '../../lint/rules/lint-rule.js'
import { nonTransactionalOf } from '../sql/non-transactional.js'

/** Statements that PostgreSQL cannot run as written. */
export const POSTGRES_RULES: readonly Rule[] = [
  {
    name: 'non-transactional',
    level: 'refuse',
    dialect: 'postgres',
    bothWays: true,
    check: (statement, { statements }) =>
      statements.length > 1 && nonTransactionalOf(statement) !== undefined,
  },
  {
    name: 'index-needs-a-name',
    level: 'refuse',
    dialect: 'postgres',
    bothWays: true,
    check: (statement) => {
      const nonTransactional = nonTransactionalOf(statement)
      return nonTransactional?.kind === 'createIndex' && nonTransactional.index === ''
    },
  },
]
