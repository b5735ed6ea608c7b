import { Cursor, hasWords, indexOfWords, isWord } from '../../sql/cursor.js'
import type { Statement } from '../../sql/split-statements.js'
import type { Token } from '../../sql/tokenize.js'
import { alterTable, type CreateIndex, createIndex, dropped } from '../../sql/statement-shape.js'

type Path = readonly string[]

/**
 * A PostgreSQL statement that cannot run inside a transaction. Its kind determines the remains of an
 * interruption.
 */
export type NonTransactional =
  | { readonly kind: 'createIndex'; readonly index: string; readonly paths: CreateIndex['paths'] }
  | { readonly kind: 'dropIndex'; readonly index: string; readonly paths: { readonly name: Path } }
  | { readonly kind: 'reindex' }
  | { readonly kind: 'detachPartition'; readonly table: string; readonly partition: string }
  | { readonly kind: 'vacuum' }

/**
 * Returns the kind of a statement that must be the only one of its file, or undefined for a statement that
 * can run in a transaction.
 */
export function nonTransactionalOf(statement: Statement): NonTransactional | undefined {
  const [verb] = statement.tokens
  if (isWord(verb, 'VACUUM')) return { kind: 'vacuum' }
  if (isWord(verb, 'CLUSTER') && statement.tokens.length === 1) return { kind: 'vacuum' }
  if (isWord(verb, 'REINDEX')) return nonTransactionalReindex(statement)
  if (isWord(verb, 'ALTER')) return nonTransactionalDetach(statement)
  const index = createIndex(statement)
  if (index?.isConcurrent === true) return { kind: 'createIndex', index: index.name, paths: index.paths }
  const drop = dropped(statement)
  if (drop?.what !== 'INDEX' || !drop.isConcurrent) return undefined
  const [name = []] = drop.paths
  return { kind: 'dropIndex', index: name.join('.'), paths: { name } }
}

export interface Reindex {
  readonly what: string
  readonly isConcurrent: boolean
}

export function reindexed({ tokens }: Statement): Reindex | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('REINDEX')) return undefined
  const options = cursor.inParentheses() ?? []
  const what = cursor.rest[0]?.value ?? ''
  return { what, isConcurrent: isOn(options, 'CONCURRENTLY') || hasWords(cursor.rest, 'CONCURRENTLY') }
}

/** Returns true if `VACUUM (FULL)`, `REINDEX (CONCURRENTLY true)` and similar statements enable `option`. */
export function isOn(options: readonly Token[], option: string): boolean {
  const at = indexOfWords(options, option)
  const value = options[at + 1]
  return at >= 0 && !['FALSE', 'OFF', '0'].some((no) => isWord(value, no) || value?.text === no)
}

export interface Detach {
  readonly table: string
  readonly partition: string
  readonly isConcurrent: boolean
  readonly isFinal: boolean
}

export function detached(statement: Statement): Detach | undefined {
  const alter = alterTable(statement)
  const cursor = new Cursor(alter?.actions[0] ?? [])
  if (alter === undefined || !cursor.take('DETACH', 'PARTITION')) return undefined
  const partition = cursor.name() ?? ''
  const isConcurrent = cursor.take('CONCURRENTLY')
  return { table: alter.table, partition, isConcurrent, isFinal: cursor.take('FINALIZE') }
}

function nonTransactionalReindex(statement: Statement): NonTransactional | undefined {
  const reindex = reindexed(statement)
  if (reindex === undefined) return undefined
  const isWide = ['SCHEMA', 'DATABASE', 'SYSTEM'].includes(reindex.what)
  return reindex.isConcurrent || isWide ? { kind: 'reindex' } : undefined
}

function nonTransactionalDetach(statement: Statement): NonTransactional | undefined {
  const detach = detached(statement)
  if (detach === undefined || !detach.isConcurrent) return undefined
  return { kind: 'detachPartition', table: detach.table, partition: detach.partition }
}
