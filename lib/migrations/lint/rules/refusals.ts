import { Cursor, hasWords, isWord, nameOf } from '../../sql/cursor.js'
import type { Rule } from './lint-rule.js'
import { BACKFILL_TABLE, VERSION_TABLE } from '../../files/framework-tables.js'
import { boundedUpdate } from '../../sql/backfill.js'
import type { Statement } from '../../sql/split-statements.js'

/** What the engine cannot run or recover. */
export const REFUSALS: readonly Rule[] = [
  {
    name: 'transaction-control',
    level: 'refuse',
    bothWays: true,
    check: (statement, { engine }) =>
      controlsTransaction(statement) || engine.controlsTransaction(statement)
        ? `${engine.commits}: take the BEGIN, COMMIT, ROLLBACK, SAVEPOINT or LOCK TABLES out, and put what must commit separately into a file of its own`
        : undefined,
  },
  {
    name: 'client-command',
    level: 'refuse',
    bothWays: true,
    check: (statement, { engine }) =>
      isWord(statement.tokens[0], 'COPY') &&
      (hasWords(statement.tokens, 'STDIN') || hasWords(statement.tokens, 'STDOUT'))
        ? 'COPY … FROM STDIN needs a client that streams the rows: use INSERT'
        : engine.clientCommand(statement),
  },
  {
    name: 'leaves-the-database',
    level: 'refuse',
    bothWays: true,
    check: (statement, { engine }) => {
      const text = engine.leavesTheDatabase(statement)
      if (text !== undefined) return text
      const cursor = new Cursor(statement.tokens)
      if (!cursor.take('CREATE') && !cursor.take('DROP')) return undefined
      return engine.serverWide.some((word) => cursor.sees(word))
        ? 'creates or drops what is outside of the database that is migrated: do it outside of the migrations'
        : undefined
    },
  },
  {
    name: 'backfill-form',
    level: 'refuse',
    bothWays: true,
    check: (statement, { backfill, statements, direction }) => {
      if (backfill === undefined) return undefined
      if (statements.length !== 1 || direction !== 'up' || boundedUpdate(statement) === undefined)
        return 'a backfill is one UPDATE of one table on the way up, without WITH, ORDER BY, LIMIT and RETURNING: the chunks are made from its primary key'
      return backfill.problem
    },
  },
  {
    name: 'engine-state',
    level: 'refuse',
    bothWays: true,
    check: ({ tokens }) => {
      const names = tokens.filter(({ kind }) => kind === 'word' || kind === 'quoted').map(nameOf)
      const own = [VERSION_TABLE, BACKFILL_TABLE].find((name) => names.includes(name))
      if (own !== undefined) return `${own} belongs to the engine: leave it alone`
      return isWord(tokens[0], 'DISCARD') || names.some((name) => RELEASES.includes(name))
        ? 'would give up the lock that keeps other hosts from migrating at the same time: take it out'
        : undefined
    },
  },
]

const RELEASES = ['pg_advisory_unlock_all', 'pg_advisory_unlock', 'release_lock', 'release_all_locks']

function controlsTransaction({ tokens }: Statement): boolean {
  const cursor = new Cursor(tokens)
  if (cursor.sees('BEGIN', 'NOT', 'ATOMIC')) return false
  if (['BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT'].some((word) => cursor.sees(word))) return true
  return cursor.sees('START', 'TRANSACTION') || cursor.sees('RELEASE')
}
