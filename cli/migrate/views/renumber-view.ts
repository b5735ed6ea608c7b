import { namesText } from '../lines/names-text.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { Renumbered } from '../renumber-files.js'

export const renumberLines = (renumbered: readonly Renumbered[], style: Style): readonly string[] =>
  renumbered.length === 0
    ? ['nothing to do: they already have the last numbers']
    : renumbered.map(({ folder, from, to }) => `${style.paint.good('renumbered')} ${folder}/${from} to ${to}`)

export const renumberNext = (renumbered: readonly Renumbered[], style: Style): readonly string[] =>
  renumbered.length === 0 ? [] : [nextLine(style, { command: 'migrate lint' })]

/** Returns notes on databases to which the migrations were already applied in another order. */
export function renumberNotes(renumbered: readonly Renumbered[], { command }: Style): readonly string[] {
  if (renumbered.length === 0) return []
  const names = [...new Set(renumbered.map(({ from }) => from))]
  const before = Math.min(...names.map((name) => Number(name.slice(0, 4)))) - 1
  const [run, them, they] = names.length === 1 ? ['runs', 'it', 'it'] : ['run', 'them', 'they']
  return [
    `the order of the migrations has changed: ${namesText([...new Set(renumbered.map(({ to }) => to))])} ${run} after all your other migrations`,
    ...overtakenLines(renumbered, command),
    `a database that has applied ${them} under the old number, perhaps your own (${command('migrate status')} shows its migrations), rejects these files: there, check out the branch as it was before the merge and run ${command('migrate down', { to: before })} to undo what ${they} created`,
  ]
}

/**
 * Returns a line for each branch whose migrations are now in the wrong order, because not all of them were
 * named.
 */
function overtakenLines(renumbered: readonly Renumbered[], command: Style['command']): readonly string[] {
  const folders = [...new Set(renumbered.map(({ folder }) => folder))]
  const lines = folders.flatMap((folder) => {
    const moved = renumbered.filter((one) => one.folder === folder)
    const names = [...new Set(moved.flatMap(({ overtaken }) => overtaken))].sort()
    if (names.length === 0) return []
    const to = moved.map((one) => one.to)
    const [run, those] = names.length === 1 ? ['runs', 'it is'] : ['run', 'some are']
    return [
      `${namesText(names)} ${run} before ${namesText(to)} now: if ${those} of the same branch, ${command('migrate renumber', {}, ...to, ...names)} moves ${names.length === 1 ? 'it' : 'them'} after it again; leave out migrations of the other branch`,
    ]
  })
  return [...new Set(lines)]
}
