import type { Finding } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'

/** One line for each finding, in the format of compilers, and one with their number. */
export function findingLines(findings: readonly Finding[], paint: Paint): readonly string[] {
  if (findings.length === 0) return [paint.good('nothing to say against these files')]
  const colour = { refuse: paint.bad, danger: paint.warn, advice: paint.dim }
  const of = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length
  return [
    ...findings.map(
      ({ file, line, level, rule, text }) =>
        `${file}:${line}: ${colour[level](`${level}:`)} ${text} ${paint.dim(`[${rule}]`)}`,
    ),
    `${of('refuse')} refused, ${of('danger')} dangerous, ${of('advice')} advised; \`-- ashlar:allow RULE\` in a file says that it is meant`,
  ]
}
