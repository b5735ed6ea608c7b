import type { Finding } from '../../../lib/migrations/index.js'
import { basename } from 'node:path'
import { GENERATED_FILE } from '../../../lib/migrations/files/search-migrations.js'
import type { Style } from '../lines/line-style.js'

/** Rules that no comment can disable, because they concern comments. */
const NOT_ACCEPTED = ['empty-down', 'unknown-rule']

/** Returns true for advice about a file of `search generate`, which must not be edited. */
export const isOfGenerated = ({ level, file }: Pick<Finding, 'level' | 'file'>): boolean =>
  level === 'advice' && GENERATED_FILE.test(basename(file))

/**
 * Returns a line for each finding in the format of compilers, a line with their number, and the comments that
 * disable them.
 */
export function lintLines(findings: readonly Finding[], { paint }: Pick<Style, 'paint'>): readonly string[] {
  if (findings.length === 0) return [paint.good('lint: nothing found')]
  const colour = { refuse: paint.bad, danger: paint.warn, advice: paint.dim }
  const of = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length
  const accepted = findings.filter(
    (finding) =>
      finding.level !== 'refuse' && !NOT_ACCEPTED.includes(finding.rule) && !isOfGenerated(finding),
  )
  const rulesOf = (name: string) => [
    ...new Set(accepted.filter(({ file }) => file === name).map(({ rule }) => rule)),
  ]
  return [
    ...findings.map(
      ({ file, line, level, rule, text }) =>
        `${file}:${line}: ${colour[level](`${level}:`)} ${text} ${paint.dim(`[${rule}]`)}`,
    ),
    `${of('refuse')} rejected, ${of('danger')} dangerous, ${of('advice')} advised`,
    ...[...new Set(accepted.map(({ file }) => file))].map(
      (file) =>
        `to accept it, write this line into ${file} before a database applies it: -- ashlar:allow ${rulesOf(file).join(', ')}`,
    ),
  ]
}
