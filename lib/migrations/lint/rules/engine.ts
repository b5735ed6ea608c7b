import { nonTransactionalOf } from '../../sql/non-transactional.js'
import { Cursor, hasWords, isWord, nameOf } from '../../sql/cursor.js'
import type { Rule } from './lint-rule.js'
import { VERSION_TABLE } from '../../files/names.js'
import type { Statement } from '../../sql/statements.js'

/** What the engine itself cannot run or be responsible for. */
export const ENGINE_RULES: readonly Rule[] = [
  {
    name: 'transaction-control',
    level: 'refuse',
    bothWays: true,
    check: (statement) =>
      controlsTransaction(statement)
        ? 'a file runs in a transaction of its own: take the BEGIN, COMMIT, ROLLBACK, SAVEPOINT or LOCK TABLES out, ' +
          'and put what must commit separately into a file of its own'
        : undefined,
  },
  {
    name: 'non-transactional',
    level: 'refuse',
    dialect: 'postgres',
    bothWays: true,
    check: (statement, { statements }) =>
      statements.length > 1 && nonTransactionalOf(statement) !== undefined
        ? 'cannot run inside of a transaction: it must be the only statement in its file, put the others into files of their own'
        : undefined,
  },
  {
    name: 'index-needs-a-name',
    level: 'refuse',
    dialect: 'postgres',
    bothWays: true,
    check: (statement) => {
      const nonTransactional = nonTransactionalOf(statement)
      return nonTransactional?.kind === 'createIndex' && nonTransactional.index === ''
        ? 'name the index: without a name, what a failed run leaves behind cannot be found and dropped'
        : undefined
    },
  },
  {
    name: 'client-command',
    level: 'refuse',
    bothWays: true,
    check: ({ tokens, dialect }) => {
      if (dialect === 'postgres' && tokens.some(({ text, kind }) => kind === 'symbol' && text === '\\'))
        return 'backslash commands belong to psql, not to SQL: take them out'
      if (isWord(tokens[0], 'COPY') && (hasWords(tokens, 'STDIN') || hasWords(tokens, 'STDOUT')))
        return 'COPY … FROM STDIN needs a client that streams the rows: use INSERT'
      if (dialect === 'mysql' && isWord(tokens[0], 'DELIMITER'))
        return 'DELIMITER belongs to the mysql program, not to SQL: take it out, BEGIN … END bodies are recognised without it'
      if (dialect === 'mysql' && isWord(tokens[0], 'SOURCE'))
        return 'SOURCE belongs to the mysql program, not to SQL: put the statements here'
      return undefined
    },
  },
  {
    name: 'torn-body',
    level: 'refuse',
    dialect: 'mysql',
    bothWays: true,
    check: ({ tokens }) =>
      isWord(tokens[0], 'END')
        ? 'starts with END: put the body of the routine or trigger between BEGIN and END'
        : undefined,
  },
  {
    name: 'leaves-the-database',
    level: 'refuse',
    bothWays: true,
    check: ({ tokens, dialect }) => {
      const cursor = new Cursor(tokens)
      if (dialect === 'mysql' && cursor.sees('USE'))
        return 'a migration stays in the database of its connection string: take the USE out'
      if (dialect === 'postgres' && cursor.sees('ALTER', 'SYSTEM'))
        return 'changes the whole server, which no migration can undo: do it outside of the migrations'
      if (!cursor.take('CREATE') && !cursor.take('DROP')) return undefined
      const isServerWide =
        cursor.sees('DATABASE') || cursor.sees('TABLESPACE') || (dialect === 'mysql' && cursor.sees('SCHEMA'))
      return isServerWide
        ? 'creates or drops what is outside of the database that is migrated: do it outside of the migrations'
        : undefined
    },
  },
  {
    name: 'engine-state',
    level: 'refuse',
    bothWays: true,
    check: ({ tokens }) => {
      const names = tokens.filter(({ kind }) => kind === 'word' || kind === 'quoted').map(nameOf)
      if (names.includes(VERSION_TABLE)) return `${VERSION_TABLE} belongs to the engine: leave it alone`
      return isWord(tokens[0], 'DISCARD') || names.some((name) => RELEASES.includes(name))
        ? 'would give up the lock that keeps other hosts from migrating at the same time: take it out'
        : undefined
    },
  },
]

const RELEASES = ['pg_advisory_unlock_all', 'pg_advisory_unlock', 'release_lock', 'release_all_locks']

function controlsTransaction({ tokens, dialect }: Statement): boolean {
  const cursor = new Cursor(tokens)
  if (cursor.sees('BEGIN', 'NOT', 'ATOMIC')) return false
  if (['BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT'].some((word) => cursor.sees(word))) return true
  if (cursor.sees('START', 'TRANSACTION') || cursor.sees('RELEASE')) return true
  if (dialect === 'postgres')
    return cursor.sees('END') || cursor.sees('ABORT') || cursor.sees('PREPARE', 'TRANSACTION')
  if (cursor.sees('XA') || cursor.sees('UNLOCK', 'TABLES') || cursor.sees('UNLOCK', 'TABLE')) return true
  if (cursor.sees('LOCK', 'TABLES') || cursor.sees('LOCK', 'TABLE')) return true
  return cursor.sees('SET') && tokens.some((token) => isWord(token, 'AUTOCOMMIT'))
}
