import { type FileSource, type Migration, readMigrations, subjectOf } from './files/migration-files.js'
import { type Finding, lintFile } from './lint/lint-file.js'
import { FILE_PROBLEMS, type FileProblem } from './messages/file-problems.js'
import { declarationError } from './messages/problem.js'
import type { Engine } from './session/engine.js'
import { DEFAULT_STATEMENT_TIMEOUT_MS } from './session/migrate-options.js'
import { type Script, splitStatements } from './sql/split-statements.js'

/** A version with its up migration's statements. */
export interface Planned extends Migration {
  readonly script: Script
}

/** A module's versions, and the findings of lint. */
export interface MigrationSet {
  /** Returns the name of these files in errors. Reads the folder. */
  readonly subject: () => string
  readonly migrations: readonly Planned[]
  readonly findings: readonly Finding[]
}

/**
 * Reads the module's files and their findings of lint.
 *
 * @throws {DeclarationError} with every misnamed, missing, duplicate or misplaced file.
 */
export async function readSet(
  source: FileSource,
  engine: Engine,
  statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS,
): Promise<MigrationSet> {
  const migrations = (await readMigrations(source, engine)).map((migration) => ({
    ...migration,
    script: splitStatements(migration.up, engine.syntax),
  }))
  const findings = migrations.flatMap(({ name, file, script, down }) => [
    ...lintFile({ name: file, engine: engine.lint, direction: 'up', script, statementTimeoutMs }),
    ...(down === undefined ? [missingDown(name)] : lintDown(name, down, engine, statementTimeoutMs)),
  ])
  return { subject: () => subjectOf(source, engine.dialect), migrations, findings }
}

/** Returns the findings in a down migration. */
export const lintDown = (
  name: string,
  sql: string,
  engine: Engine,
  statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS,
): readonly Finding[] =>
  lintFile({
    name: `${name}.down.sql`,
    engine: engine.lint,
    direction: 'down',
    script: splitStatements(sql, engine.syntax),
    statementTimeoutMs,
  })

/**
 * Returns why lint rejects versions, by version name. Only the first reason of each is included, because `up`
 * lists all.
 */
export const refusalsOf = ({ findings }: Pick<MigrationSet, 'findings'>): ReadonlyMap<string, string> =>
  new Map(
    findings
      .filter(({ level }) => level === 'refuse')
      .reverse()
      .map((finding) => [versionNameOf(finding), FILE_PROBLEMS.refused({ ...finding, why: finding.text })]),
  )

const versionNameOf = ({ file }: Finding): string => file.replace(/\.(up|down)\.\w+$/, '')

/**
 * Rejects files that would run but cannot.
 *
 * @param isSettled - returns true if a version is applied. Findings in applied versions do not matter,
 * because these do not run again.
 * @throws {DeclarationError} if the engine rejects a file that would run.
 */
export function refuseBadFiles(
  { subject, migrations, findings }: MigrationSet,
  isSettled: (version: number) => boolean,
): void {
  const names = migrations.filter(({ version }) => isSettled(version)).map(({ name }) => name)
  const refused = findings.filter(
    (finding) => finding.level === 'refuse' && !names.includes(versionNameOf(finding)),
  )
  if (refused.length > 0) throw declarationError(subject(), refused.map(toProblem))
}

export const toProblem = ({ file, line, rule, text }: Finding): FileProblem => ({
  kind: 'refused',
  file,
  line,
  rule,
  why: text,
})

const missingDown = (name: string): Finding => ({
  file: `${name}.down.sql`,
  line: 1,
  rule: 'missing-down',
  level: 'refuse',
  text: 'is missing: write how to roll the migration back, or a comment that explains why there is nothing to do',
})
