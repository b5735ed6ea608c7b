import type { CommandLine } from '../../text/command-line.js'
import { type Advice, adviceText } from './advices.js'
import { type Remains, remainsText } from './remains.js'

/** A file's statement or COMMIT that failed. */
export interface StatementFailed {
  /** The version's name, such as `0002_widgets`. */
  readonly version: string
  readonly file: string
  readonly isFramework: boolean
  readonly direction: 'up' | 'down'
  /** The statement's position in the file. Undefined for the COMMIT. */
  readonly place: { readonly statement: number; readonly of: number; readonly line: number } | undefined
  /** The server's message, without values from rows. */
  readonly message: string
  readonly sqlState: string
  /** The remedy for the error's code. Undefined for most codes. */
  readonly advice: Advice | undefined
  /** The changes that remain in the database. Undefined if the database is dropped afterwards. */
  readonly remains: Remains | undefined
  /** True if only the next run can determine which statements are done. */
  readonly isUnknown: boolean
  /** The part that must be corrected. Undefined in a version's stored error. */
  readonly mend: 'nothing' | 'rows' | 'cause' | 'file' | undefined
  /** True if the statement waited too long for a lock. */
  readonly isBlocked: boolean
  /** True if the object that the statement creates already exists. */
  readonly isThere: boolean
  /**
   * The rows that violate the statement: a query that finds them, and true if the file's own values may be
   * wrong instead.
   */
  readonly rows?: { readonly find?: string; readonly mayBeFile?: true }
}

/** Returns the failed statement, its position, what the file left behind, and the remedy. */
export function statementText(problem: StatementFailed, command: CommandLine): string {
  const { file, isFramework, place, message, sqlState, advice, remains, isUnknown, mend, isBlocked } = problem
  const what = adviceText(advice, command)
  const line = place === undefined || isFramework ? '' : ` (line ${place.line})`
  const where = place === undefined ? 'at its COMMIT' : `statement ${place.statement} of ${place.of}${line}`
  const parts = [
    `${file}${isFramework ? ' (of the framework)' : ''}, ${where}: ${message}${sqlState === '' ? '' : ` (${sqlState})`}`,
    ...(what === '' ? [] : [what]),
  ]
  if (remains === undefined) return parts.join('. ')
  const stays = isUnknown ? 'The next run detects how far it came' : remainsText(remains).stays
  if (mend === undefined) return [...parts, stays].join('. ')
  const todo = todoText(problem, remains, command)
  return [...parts, `${stays}${isBlocked ? NO_CORRECTION : `${mend === 'rows' ? '; ' : ': '}${todo}`}`].join(
    '. ',
  )
}

const NO_CORRECTION = '; the file needs no correction'

function todoText(
  { version, direction, mend, isThere, rows }: StatementFailed,
  remains: Remains,
  command: CommandLine,
): string {
  const again = direction === 'down' ? `run ${command('migrate down')} again` : 'run again'
  const { next } = remainsText(remains)
  if (mend === 'cause') return `fix that and ${again}`
  if (mend === 'rows') {
    if (rows?.mayBeFile === true)
      return `rows violate it: correct them, or what the file writes, and ${again}${next === undefined ? '' : `: ${next}`}`
    return `rows violate it: correct them (the file needs no change) and ${again}${rows?.find === undefined ? '' : `. This finds them: ${rows.find}`}`
  }
  if (mend !== 'file') return again
  const record = command('migrate resolve', { applied: Number(version.slice(0, 4)) })
  const orRecord = `; or, if everything that the file creates already exists, ${record} records it without running it`
  const elsewhere = `. If another database has applied the unchanged file and needs no change, ${command('migrate repair')} accepts the correction there`
  return `${correction(remains, again)}${isThere ? orRecord : ''}${direction === 'up' ? elsewhere : ''}`
}

/** Returns the remedy for a file with a mistake. */
export function correction(remains: Remains, again = 'run again'): string {
  const { correct, next } = remainsText(remains)
  return `${correct} and ${again}${next === undefined ? '' : `: ${next}`}`
}
