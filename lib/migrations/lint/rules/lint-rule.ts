import type { Dialect } from '../../files/dialect-name.js'
import type { Backfill } from '../../sql/backfill.js'
import type { LintRule } from '../../messages/lint-messages.js'
import type { Statement } from '../../sql/split-statements.js'
import type { EngineLint } from './engine-lint.js'

/**
 * The severity of a finding. `refuse`: the engine does not run the file. `danger`: it blocks or breaks
 * running clients, or cannot be recovered; `lint` fails. `advice`: there is a better alternative.
 */
export type Level = 'refuse' | 'danger' | 'advice'

/** The facts that a rule can use in addition to its statement. */
export interface FileFacts {
  readonly engine: EngineLint
  readonly direction: 'up' | 'down'
  readonly statements: readonly Statement[]
  /** The file's `-- ashlar:backfill` comment. Undefined without one. */
  readonly backfill: Backfill | undefined
  /** The CREATE, ALTER, DROP, RENAME and TRUNCATE statements before this one. */
  readonly ddlBefore: readonly Statement[]
  /** The tables that the file created before this statement. No other client uses them yet. */
  readonly created: ReadonlySet<string>
  readonly statementTimeoutMs: number
}

/** The result of a check. */
export type Found = boolean | object | undefined

/** A lint rule. Its sentence is in `messages/lint-messages.ts`. */
export interface Rule {
  readonly name: LintRule
  readonly level: Level
  /** The engine. Default: both engines. */
  readonly dialect?: Dialect
  /** Also checks the down migration. By default, rules only check the up migration. */
  readonly bothWays?: true
  /**
   * Set if the rule concerns copying or locking a table, which a statement can forbid: see
   * `EngineLint.forbidsCopies`.
   */
  readonly ofCopies?: true
  /** Returns true, or the values for the rule's message in `LINTS`, if the statement breaks the rule. */
  readonly check: (statement: Statement, file: FileFacts) => Found
}
