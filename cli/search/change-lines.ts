import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import { differs, type FileChanges } from './file-changes.js'

/** The changes as lines for a person. */
export function changeLines(changes: FileChanges, paint: Paint): readonly string[] {
  const { folder, written, removed, unchanged, checked } = changes
  const place = paint.bold(terminalLine(folder))
  if (!differs(changes)) {
    return [unchanged === 0 ? `${place} needs no files: no search is INDEXED` : `${place} is up to date`]
  }
  return [
    ...written.map((name) => `  ${paint.good(checked ? 'missing' : 'written')}  ${terminalLine(name)}`),
    ...removed.map((name) => `  ${paint.bad(checked ? 'too many' : 'removed')} ${terminalLine(name)}`),
    ...(checked ? [`${place} differs: run the command without --check, and commit what it writes`] : []),
  ]
}
