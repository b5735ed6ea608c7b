import { Cursor, hasWords, isWord, nameOf } from './cursor.js'
import { addedConstraint, alteredColumn, alterTable } from './statement-shape.js'
import type { Statement } from './split-statements.js'
import type { Token } from './tokenize.js'

/** A table change after which rows that running code writes may be rejected. */
export interface BrokenInserts {
  readonly table: string
  /** Columns that lose their default. */
  readonly withoutDefault: readonly string[]
  /** Columns that a MODIFY defines without a default. They may have had one before. */
  readonly redefined: readonly string[]
  /** Columns that do not accept NULL afterwards. They may not have accepted it before, either. */
  readonly required: readonly string[]
  /** True if it adds another kind of constraint. */
  readonly hasCheck: boolean
}

/**
 * Returns the new requirements for rows that code writes after a statement, or undefined if there are none.
 */
export function brokenInserts(statement: Statement): BrokenInserts | undefined {
  const altered = alterTable(statement)
  if (altered === undefined) return undefined
  const { table, actions } = altered
  const checks = actions.flatMap(checkOf)
  const found = {
    table,
    withoutDefault: actions.flatMap((action) => changed(action, 'DROP', 'DEFAULT')),
    redefined: actions.flatMap((action) => undefaulted(action)),
    required: [
      ...actions.flatMap((action) => [...changed(action, 'SET', 'NOT', 'NULL'), ...redefined(action)]),
      ...checks.flatMap(notNull),
    ],
    hasCheck: checks.some((condition) => notNull(condition).length === 0),
  }
  return found.withoutDefault.length + found.redefined.length + found.required.length > 0 || found.hasCheck
    ? found
    : undefined
}

function changed(action: readonly Token[], ...words: readonly string[]): readonly string[] {
  const altered = alteredColumn(action)
  return altered !== undefined && hasWords(altered.change, ...words) ? [altered.name] : []
}

/** Returns the column of `MODIFY a int NOT NULL` or `CHANGE a b int NOT NULL`, under its previous name. */
function redefined(action: readonly Token[]): readonly string[] {
  const { name, definition } = modified(action)
  return name !== undefined && hasWords(definition, 'NOT', 'NULL') ? [name] : []
}

/** Returns the column of such an action if it has neither DEFAULT nor AUTO_INCREMENT and is not generated. */
function undefaulted(action: readonly Token[]): readonly string[] {
  const { name, definition } = modified(action)
  const isFilled = ['DEFAULT', 'AUTO_INCREMENT', 'AS'].some((word) => hasWords(definition, word))
  return name === undefined || isFilled ? [] : [name]
}

function modified(action: readonly Token[]): {
  readonly name?: string
  readonly definition: readonly Token[]
} {
  const cursor = new Cursor(action)
  if (!cursor.take('MODIFY') && !cursor.take('CHANGE')) return { definition: [] }
  cursor.take('COLUMN')
  const name = cursor.name()
  return name === undefined ? { definition: [] } : { name, definition: cursor.rest }
}

/** Returns the condition of an added CHECK. */
function checkOf(action: readonly Token[]): readonly (readonly Token[])[] {
  const added = addedConstraint(action)
  if (added?.kind !== 'CHECK') return []
  const cursor = new Cursor(added.definition)
  cursor.take('CHECK')
  return [cursor.inParentheses() ?? []]
}

/** Returns the column of a condition that is exactly `a IS NOT NULL`. */
function notNull([column, ...words]: readonly Token[]): readonly string[] {
  const isSo = words.length === 3 && ['IS', 'NOT', 'NULL'].every((word, at) => isWord(words[at], word))
  return isSo && column !== undefined ? [nameOf(column)] : []
}
