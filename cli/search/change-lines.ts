import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { DIALECTS } from '../../lib/migrations/files/dialect-name.js'
import { shellWord } from '../../lib/text/shell-word.js'
import { nextLine } from '../migrate/lines/line-style.js'
import { runCommandLine } from '../migrate/run-command-line.js'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import { differs, type FileChanges } from './file-changes.js'
import type { Generated, GenerateOptions } from './generate-search.js'
import type { SyncOptions } from './sync-search.js'

/** Formats the changes of `search generate`. */
export function generatedLines(
  generated: Generated,
  options: GenerateOptions,
  paint: Paint,
): readonly string[] {
  const { out, migrations, entities, check } = options
  const isSame = resolve(out) === resolve(migrations)
  if (generated.tables.length === 0 && generated.hasCommitted)
    return [
      ...changedLines(generated, paint),
      `No search is INDEXED any more. What the files of ${terminalLine(migrations)} created stays until the contract drops it.`,
      contractLine(entities, migrations),
    ]
  const lines = changeLines(generated, paint, 'needs no files: no search is INDEXED')
  if (check || generated.tables.length === 0) return lines
  const unnumbered =
    isSame || existsSync(migrations)
      ? []
      : [`There is no folder ${terminalLine(migrations)}: the numbers start at 9001`]
  const sync = `Next: ashlar search sync --from ${shellWord(out)} --to ${shellWord(migrations)}`
  return [...lines, ...unnumbered, ...(isSame ? planLines(generated) : generated.isCommitted ? [] : [sync])]
}

/** Formats the changes of `search sync`. */
export const syncedLines = (synced: FileChanges, { from }: SyncOptions, paint: Paint): readonly string[] => [
  ...changeLines(synced, paint, `gets no files: ${terminalLine(from)} has none of search generate`),
  ...(synced.checked ? [] : planLines(synced)),
]

/** @param nothing - the message if no files are required. */
function changeLines(changes: FileChanges, paint: Paint, nothing: string): readonly string[] {
  const { folder, unchanged, checked } = changes
  const place = paint.bold(terminalLine(folder))
  if (!differs(changes)) return [`${place} ${unchanged === 0 ? nothing : 'is up to date'}`]
  return [
    ...changedLines(changes, paint),
    ...(checked ? [`${place} differs: run the command without --check, and commit what it writes`] : []),
  ]
}

const changedLines = ({ written, removed, checked }: FileChanges, paint: Paint): readonly string[] => [
  ...written.map((name) => `  ${paint.good(checked ? 'missing' : 'written')}  ${terminalLine(name)}`),
  ...removed.map((name) => `  ${paint.bad(checked ? 'too many' : 'removed')} ${terminalLine(name)}`),
]

/** Returns advice for new files in the migrations folder. */
const planLines = ({ folder, written }: FileChanges): readonly string[] =>
  written.length === 0
    ? []
    : [nextLine(onFilesOf(folder), { command: 'migrate plan' }, 'and commit the files')]

const contractLine = (entities: string, migrations: string): string =>
  nextLine(
    onFilesOf(migrations),
    { command: 'migrate diff', args: ['NAME'], options: { entities, contract: true } },
    'once no process that uses this search runs',
  )

/** Returns the flags for a folder. `--files` is the parent of the engines' folders. */
const onFilesOf = (folder: string) => ({
  command: runCommandLine({
    files: DIALECTS.some((dialect) => dialect === basename(folder)) ? dirname(folder) : folder,
  }),
})
