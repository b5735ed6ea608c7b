import type { EditedVersion } from '../../../lib/migrations/index.js'
import { sourceLine } from '../../output/terminal-line.js'
import { namesText } from '../lines/names-text.js'
import { nextUpLines, type Style } from '../lines/line-style.js'

/** Formats an edit as removed and added lines, without the common lines at the beginning and the end. */
export function editedLines({ name, applied, now }: EditedVersion, { paint }: Style): readonly string[] {
  const [before, after] = [(applied ?? '').split('\n'), now.split('\n')]
  const first = before.findIndex((line, at) => line !== after[at])
  const from = first < 0 ? before.length : first
  let same = 0
  while (same < Math.min(before.length, after.length) - from && before.at(-1 - same) === after.at(-1 - same))
    same++
  const gone = before.slice(from, before.length - same)
  const come = after.slice(from, after.length - same)
  return [
    `${paint.bold(`${name}.up.sql`)}, from line ${from + 1}:`,
    ...gone.map((line) => paint.bad(`- ${sourceLine(line)}`)),
    ...come.map((line) => paint.good(`+ ${sourceLine(line)}`)),
  ]
}

export const repairQuestion = (edited: readonly EditedVersion[]): string =>
  `This records the files of ${namesText(edited.map(({ name }) => name))} as applied, and runs no statement.`

/** @param next - the migrations that `up` applies next. */
export const repairLines = (
  repaired: readonly EditedVersion[],
  next: readonly string[],
  style: Style,
): readonly string[] => [
  ...(repaired.length === 0 ? ['nothing to do: no applied file was edited'] : []),
  ...repaired.map(
    ({ name }) => `${style.paint.good('recorded')} the file of ${name} as applied: nothing of it was run`,
  ),
  ...nextUpLines(style, next),
]
