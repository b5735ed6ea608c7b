import { commandLine, type CommandLine } from './command-line.js'

/** A difference between a database table and its entity. */
export interface TableDifference {
  /** The kind, such as `noTable`, `addColumn` or `type`. */
  readonly kind: string
  /** The table, such as `widgets` or `inventory.widgets`. */
  readonly table: string
  readonly column?: string
  /** The name of the index, foreign key or check. */
  readonly name?: string
  /** The definition in the database: a type, a collation, a default, or the shape of a key or an index. */
  readonly is?: string
  /** The expected definition. */
  readonly wanted?: string
  /** The difference: `widgets.colour is missing`. */
  readonly text: string
  /** The effect while the difference exists, or the precondition of the next step. */
  readonly detail?: string
  /** A query for the rows that have to be filled first. */
  readonly fill?: string
  /** The statement that the next step's file contains. */
  readonly statement?: string
  readonly next?: TableStep
}

/** A harmless difference between another application's table and the model. */
export interface TableNote extends Pick<TableDifference, 'kind' | 'table' | 'column' | 'text'> {
  /** The consequence. */
  readonly detail: string
  /** The number of affected rows, if they were counted. */
  readonly rows?: number
}

/** Formats a note as one line. */
export const tableNoteText = ({ text, detail }: TableNote): string => `${text}: ${detail}`

/**
 * The step that resolves a difference. `expand`: a file written by `migrate diff`. `contract` and `drop`: a
 * file written by `migrate diff --contract`, which changes or drops something. `both`: one of each.
 * `backfill`: a file that you write. `search`: the files of `search generate`. If there is none, `detail`
 * states the manual step.
 * @inline
 */
export type TableStep = 'expand' | 'contract' | 'drop' | 'both' | 'backfill' | 'search'

/** Returns true if only a step of the contract phase remains. */
export const isContract = ({ next }: TableDifference): boolean => next === 'contract' || next === 'drop'

/**
 * Formats a difference with advice as one line. It contains statements only if no command writes them,
 * because most obvious statements lock or rewrite the table.
 * @param areFilesKnown - true if the migration files were compared as well. Otherwise one of them may already
 *   resolve the difference.
 */
export function tableDifferenceText(
  { text, detail = '', fill, statement, next }: TableDifference,
  areFilesKnown = false,
  command: CommandLine = commandLine,
): string {
  const first = fill === undefined ? '' : `fill it first (${fillText(fill, command)}); `
  const step =
    statement === undefined
      ? stepText(next, areFilesKnown, command)
      : `once none of them is running, ${command('migrate diff', { contract: true }, 'NAME')} writes ${statement}`
  const what = `${detail}${first}${step}`
  return what === '' ? text : `${text}: ${what}`
}

/** Returns advice that names the query for rows without a value, and the command that starts a backfill. */
export const fillText = (query: string, command: CommandLine = commandLine): string =>
  `${query} finds the rows, and ${command('migrate new', {}, 'NAME')} starts a backfill`

function stepText(next: TableStep | undefined, areFilesKnown: boolean, command: CommandLine): string {
  const yours = areFilesKnown ? '' : ', unless one of your files already does'
  const diff = command('migrate diff', {}, 'NAME')
  const contract = command('migrate diff', { contract: true }, 'NAME')
  switch (next) {
    case 'expand':
      return `${diff} writes the file for it${yours}`
    case 'contract':
      return `once no older image is running, ${contract} writes the file for it${yours}`
    case 'drop':
      return `${contract} writes the file that drops it${yours}`
    case 'both':
      return `${diff} writes the file for the new one, and once no older image is running, diff NAME --contract writes the file that drops the old one${areFilesKnown ? '' : ', unless your files already do'}`
    case 'backfill':
      return `fill it first, with the backfill of ${command('migrate new', {}, 'NAME')}`
    case 'search':
      return `${command('search generate')} writes the files, and up applies them`
    case undefined:
      return ''
  }
}
