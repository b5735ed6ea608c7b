import type { UpResult } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'

/** One line for each version that was applied, with the rows that a backfill wrote. */
export function appliedLines({ applied, filled = [] }: UpResult, paint: Paint): readonly string[] {
  const rowsOf = new Map(filled.map(({ version, rows }) => [version, rows]))
  return applied.map((name) => {
    const rows = rowsOf.get(name)
    return `${paint.good('applied')} ${name}${rows === undefined ? '' : `: ${rows} rows written`}`
  })
}
