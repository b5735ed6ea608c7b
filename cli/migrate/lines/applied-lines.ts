import type { UpResult } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'

/** One line for each version that was applied, with the rows that a backfill wrote, or recorded without running it. */
export function appliedLines(
  { applied, recorded = [], filled = [] }: Pick<UpResult, 'applied' | 'recorded' | 'filled'>,
  paint: Paint,
): readonly string[] {
  const rowsOf = new Map(filled.map(({ version, ...counts }) => [version, counts]))
  return [...applied, ...recorded].sort().map((name) => {
    if (recorded.includes(name)) return `${paint.good('recorded')} ${name}, which did not have to run`
    const counts = rowsOf.get(name)
    return `${paint.good('applied')} ${name}${counts === undefined ? '' : `: ${writtenText(counts)}`}`
  })
}

const writtenText = ({ rows, earlier }: { readonly rows: number; readonly earlier: number }): string =>
  earlier === 0 ? `${rows} rows written` : `${rows - earlier} rows written, and ${earlier} by earlier runs`
