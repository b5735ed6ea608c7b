import type { DownResult, UpResult } from '../../../lib/migrations/index.js'
import { namesText } from '../lines/names-text.js'
import { nextUpLines, type Style } from '../lines/line-style.js'
import { appliedLines } from './up-view.js'

/**
 * Formats the steps of `redo` after the rollback.
 * @param pending - the migrations that `up` applies now.
 */
export function redoThen(pending: readonly string[]): string {
  const stay = pending.length > 1 ? 'stay' : 'stays'
  const stays = pending.length === 0 ? '' : `; ${namesText(pending)} ${stay} pending`
  return `, and applies it again, as its file is now${stays}`
}

/** @param next - the migrations that the next `up` applies. */
export const redoLines = (
  result: DownResult & UpResult,
  next: readonly string[],
  style: Style,
): readonly string[] => [
  ...result.rolledBack.map((name) => `${style.paint.good('rolled back')} ${name}`),
  ...appliedLines(result, style),
  ...(result.rolledBack.length === 0 ? ['nothing to do: no migration of the module is applied'] : []),
  ...nextUpLines(style, next),
]
