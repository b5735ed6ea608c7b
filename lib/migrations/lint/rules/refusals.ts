import { Cursor, hasWords, isWord, nameOf } from '../../sql/cursor.js'
import type { ClientCommand, Elsewhere } from '../../messages/lint-messages.js'
import type { Rule } from './lint-rule.js'
import { BACKFILL_TABLE, VERSION_TABLE } from '../../files/framework-tables.js'
import { boundedUpdate } from '../../sql/backfill.js'
import type { Statement } from '../../sql/split-statements.js'

/** Statements that the engine cannot run or recover. */
export const REFUSALS: readonly Rule[] = [
  {
    name: 'transaction-control',
    level: 'refuse',
    bothWays: true,
    check: (statement, { engine }) =>
      controlsTransaction(statement) || engine.controlsTransaction(statement)
        ? { commits: engine.commits }
        : undefined,
  },
  {
    name: 'client-command',
    level: 'refuse',
    bothWays: true,
    check: (statement, { engine }) =>
      isWord(statement.tokens[0], 'COPY') &&
      (hasWords(statement.tokens, 'STDIN') || hasWords(statement.tokens, 'STDOUT'))
        ? ({ what: 'copy' } satisfies ClientCommand)
        : engine.clientCommand(statement),
  },
  {
    name: 'leaves-the-database',
    level: 'refuse',
    bothWays: true,
    check: (statement, { engine, statements }) => {
      const found = engine.leavesTheDatabase(statement, statements.slice(0, statements.indexOf(statement)))
      if (found !== undefined) return found
      const cursor = new Cursor(statement.tokens)
      if (!cursor.take('CREATE') && !cursor.take('DROP')) return undefined
      return engine.serverWide.some((word) => cursor.sees(word)) && ({ what: 'object' } satisfies Elsewhere)
    },
  },
  {
    name: 'backfill-form',
    level: 'refuse',
    bothWays: true,
    check: (statement, { backfill, statements, direction }) => {
      if (backfill === undefined) return undefined
      if (statements.length !== 1 || direction !== 'up' || boundedUpdate(statement) === undefined) return true
      return backfill.problem !== undefined && { problem: backfill.problem }
    },
  },
  {
    name: 'engine-state',
    level: 'refuse',
    bothWays: true,
    check: ({ tokens }) => {
      const names = tokens.filter(({ kind }) => kind === 'word' || kind === 'quoted').map(nameOf)
      const own = [VERSION_TABLE, BACKFILL_TABLE].find((name) => names.includes(name))
      if (own !== undefined) return { own }
      return isWord(tokens[0], 'DISCARD') || names.some((name) => RELEASES.includes(name))
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
