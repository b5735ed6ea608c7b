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

/** The facts that a rule can use besides its statement. */
export interface FileFacts {
  readonly engine: EngineLint
  readonly direction: 'up' | 'down'
  readonly statements: readonly Statement[]
  /** The file's `-- ashlar:backfill`; undefined without one. */
  readonly backfill: Backfill | undefined
  /** The CREATE, ALTER, DROP, RENAME and TRUNCATE statements before this one. */
  readonly ddlBefore: readonly Statement[]
  /** Tables that the file created before this statement, so that nothing else uses them yet. */
  readonly created: ReadonlySet<string>
  readonly statementTimeoutMs: number
}

/** The result of a check. */
export type Found = boolean | object | undefined

/** One kind of finding. Its sentence is in `messages/lint-messages.ts`. */
export interface Rule {
  readonly name: LintRule
  readonly level: Level
  /** Default: both. */
  readonly dialect?: Dialect
  /** Rules check the up migration. With this, also the down migration. */
  readonly bothWays?: true
  /** It is about copying or locking a table, which a statement can forbid: see `EngineLint.forbidsCopies`. */
  readonly ofCopies?: true
  /** True if something is wrong, or the values that its sentence needs: see `LINTS`. */
  readonly check: (statement: Statement, file: FileFacts) => Found
}
