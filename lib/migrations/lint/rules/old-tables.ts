import type { FileFacts, Found, Rule } from './lint-rule.js'
import type { Statement } from '../../sql/split-statements.js'
import type { Token } from '../../sql/tokenize.js'
import { alterTable } from '../../sql/statement-shape.js'

/**
 * Returns the actions of an ALTER TABLE on a table that existed before this file. Only such a table has rows
 * and readers.
 */
export function actionsOnOldTables(
  statement: Statement,
  { created }: FileFacts,
): readonly (readonly Token[])[] {
  const alter = alterTable(statement)
  return alter === undefined || created.has(alter.table) ? [] : alter.actions
}

/** Returns a rule's check that examines each action on an existing table and returns the first finding. */
export const reportedBy =
  (check: (action: readonly Token[], file: FileFacts) => Found): Rule['check'] =>
  (statement, file) =>
    actionsOnOldTables(statement, file)
      .map((action) => check(action, file))
      .find((found) => found !== undefined && found !== false)
