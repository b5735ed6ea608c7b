import type { Dialect } from '../../files/dialect.js'
import type { Statement } from '../../sql/statements.js'
import type { EngineLint } from './engine-lint.js'

/**
 * How much a finding matters. `refuse`: the engine does not run the file. `danger`: it blocks or breaks what is running
 * against the database, or cannot be recovered from; `lint` fails. `advice`: there is a better way.
 */
export type Level = 'refuse' | 'danger' | 'advice'

/** What a rule may know beside the statement it looks at. */
export interface FileFacts {
  readonly engine: EngineLint
  readonly direction: 'up' | 'down'
  readonly statements: readonly Statement[]
  /** The CREATE, ALTER, DROP, RENAME and TRUNCATE statements in front of the one that is looked at. */
  readonly ddlBefore: readonly Statement[]
  /** Tables that this file itself made before: nobody else uses them yet. */
  readonly created: ReadonlySet<string>
  readonly statementTimeoutMs: number
}

/** One thing that a statement can be warned about. */
export interface Rule {
  readonly name: string
  readonly level: Level
  /** Both when it does not say. */
  readonly dialect?: Dialect
  /** Rules hold for the way up; those that say so hold for the way down too. */
  readonly bothWays?: true
  /** What is wrong and what to do instead; undefined when nothing is. */
  readonly check: (statement: Statement, file: FileFacts) => string | undefined
}
