import { commandLine, type CommandLine } from './command-line.js'

/** In what a table of a database is not what its entity says. */
export interface TableDifference {
  /** Such as `noTable`, `addColumn` or `type`. */
  readonly kind: string
  /** `widgets`, or `inventory.widgets`. */
  readonly table: string
  readonly column?: string
  /** Of the index, the foreign key or the check. */
  readonly name?: string
  /** The definition in the database: a type, a collation, a default, or the shape of a key or an index. */
  readonly is?: string
  /** The expected definition. */
  readonly wanted?: string
  /** The difference: `widgets.colour is missing`. */
  readonly text: string
  /** The effect until it is changed, or the precondition of the next step. */
  readonly detail?: string
  /** A query for the rows that have to be filled first. */
  readonly fill?: string
  /** The statement that the file of the next step has. */
  readonly statement?: string
  readonly next?: TableStep
}

/** A difference that a table of another application may have from a table of the framework. */
export interface TableNote extends Pick<TableDifference, 'kind' | 'table' | 'column' | 'text'> {
  /** The consequence. */
  readonly detail: string
  /** The number of rows, as far as they were counted. */
  readonly rows?: number
}

/** A note in one line. */
export const tableNoteText = ({ text, detail }: TableNote): string => `${text}: ${detail}`

/**
 * The step that resolves it. `expand`: a file that `migrate diff` writes. `contract` and `drop`: one that
 * `migrate diff --contract` writes, which changes or drops it. `both`: one of each. `backfill`: one that is
 * written manually. `search`: the files of `search generate`. Without one, `detail` states the manual step.
 */
export type TableStep = 'expand' | 'contract' | 'drop' | 'both' | 'backfill' | 'search'

/** True if all that is left to do is in the contract. */
export const isContract = ({ next }: TableDifference): boolean => next === 'contract' || next === 'drop'

/**
 * A difference in one line, with what to do. It names statements only where nothing else writes them, because
 * most that come to mind lock or rewrite the table.
 * @param areFilesKnown - whether it was compared with what the files make: else one of them may do it
 * already.
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

/** The query that finds rows without a value, and the command that fills them. */
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
