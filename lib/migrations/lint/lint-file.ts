import { mysqlLint } from '../mysql/lint/mysql-lint.js'
import { postgresLint } from '../postgres/lint/postgres-lint.js'
import type { EngineLint } from './rules/engine-lint.js'
import type { FileFacts, Level, Rule } from './rules/lint-rule.js'
import { BREAKING_RULES } from './rules/breaking.js'
import { COLUMN_RULES } from './rules/columns.js'
import { REFUSALS } from './rules/refusals.js'
import { REWRITE_RULES } from './rules/rewrites.js'
import { SECRET_RULES } from './rules/secrets.js'
import { LINTS, type LintRule } from '../messages/lint-messages.js'
import { writtenBy } from '../messages/messages.js'
import type { MigrationProblem } from '../messages/problem.js'
import { commandLine } from '../../text/command-line.js'
import { backfillOf } from '../sql/backfill.js'
import type { Script, Statement } from '../sql/split-statements.js'
import { createTable, isDdl } from '../sql/statement-shape.js'

/** All rules. */
export const RULES: readonly Rule[] = [
  ...REFUSALS,
  ...postgresLint.rules,
  ...REWRITE_RULES,
  ...BREAKING_RULES,
  ...COLUMN_RULES,
  ...mysqlLint.rules,
  ...SECRET_RULES,
]

/** A statement that lint rejects or advises against, with the reason. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly rule: string
  readonly level: Level
  /** The problem and the remedy. */
  readonly text: string
  /** The server's message, for `fails-on-empty`. */
  readonly problem?: MigrationProblem
}

export interface LintedFile {
  readonly name: string
  readonly engine: EngineLint
  readonly direction: 'up' | 'down'
  readonly script: Script
  readonly statementTimeoutMs: number
}

/**
 * Returns the findings in one file. A comment `-- ashlar:allow rule-name, rule-name` anywhere in the file
 * accepts a danger or an advice. Findings of level `refuse` cannot be accepted.
 */
export function lintFile({ name, script, ...facts }: LintedFile): readonly Finding[] {
  const { statements, comments, problem } = script
  const { dialect } = facts.engine.syntax
  const found = (line: number, rule: LintRule, level: Level, values: object = {}): Finding => ({
    file: name,
    line,
    rule,
    level,
    text: writtenBy(LINTS, { ...values, kind: rule }, commandLine),
  })
  if (problem !== undefined) return [found(problem.line, 'unterminated', 'refuse', { why: problem.text })]
  if (statements.length === 0 && facts.direction === 'up') return [found(1, 'empty-file', 'refuse')]
  if (statements.length === 0 && comments.length === 0) return [found(1, 'empty-down', 'danger')]
  const allowed = allowedRules(comments)
  const rules = RULES.filter(
    (rule) =>
      (rule.dialect ?? dialect) === dialect &&
      (facts.direction === 'up' || rule.bothWays === true) &&
      (rule.level === 'refuse' || !allowed.has(rule.name)),
  )
  const unknown = [...allowed].filter((rule) => !RULES.some(({ name: known }) => known === rule))
  const misspelt = unknown.map((rule) => found(1, 'unknown-rule', 'advice', { rule }))
  const created = new Set<string>()
  const ddlBefore: Statement[] = []
  const file: FileFacts = { ...facts, statements, backfill: backfillOf(script), ddlBefore, created }
  const findings = statements.flatMap((statement) => {
    const forbidsCopies = file.engine.forbidsCopies(statement)
    const reported = rules.flatMap((rule) => {
      if (forbidsCopies && rule.ofCopies === true) return []
      const values = rule.check(statement, file)
      if (values === undefined || values === false) return []
      return [found(statement.line, rule.name, rule.level, values === true ? {} : values)]
    })
    if (isDdl(statement)) ddlBefore.push(statement)
    const table = createTable(statement)?.table
    if (table !== undefined) created.add(table)
    return reported
  })
  return [...misspelt, ...findings]
}

const ALLOW = /ashlar:allow\s+([a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*)/g

/** Returns the rules that the comments of a file accept. */
export const allowedRules = (comments: readonly string[]): ReadonlySet<string> =>
  new Set(comments.flatMap(allowedBy))

function allowedBy(comment: string): readonly string[] {
  return [...comment.matchAll(ALLOW)].flatMap(([, names = '']) => names.split(/\s*,\s*/))
}
