/** The state in which an unfinished file left the database. */
export type Remains =
  /** No statement of the file has any effect: all were undone, or none was run. */
  | { readonly kind: 'nothing' }
  /** MySQL: the statements before the failed one are done. */
  | { readonly kind: 'statements'; readonly done: number }
  /** MySQL: an earlier run ended at this statement without a report, so it may be done. */
  | { readonly kind: 'mayBeDone'; readonly statement: number }
  /** PostgreSQL: an index may remain, which the next run drops. */
  | { readonly kind: 'index' }
  /** The completed chunks of a backfill remain. */
  | { readonly kind: 'chunks' }
  /**
   * A chunk of a backfill failed: at most `most` rows after the key `behind`. Without a key it is the first
   * chunk.
   */
  | {
      readonly kind: 'chunk'
      readonly behind: readonly { readonly column: string; readonly value: string }[]
      readonly most: number
      readonly written: number
    }

interface RemainsText {
  readonly stays: string
  /** The correction to make before the file is run again. */
  readonly correct: string
  /** The effect of another run, if the message must mention it. */
  readonly next?: string
}

const KEPT = 'and written rows keep their new values'

export function remainsText(remains: Remains): RemainsText {
  switch (remains.kind) {
    case 'nothing':
      return { stays: 'No statement of the file has taken effect', correct: 'correct it' }
    case 'statements': {
      const [were, remain] = remains.done === 1 ? ['was', 'remains'] : ['were', 'remain']
      return {
        stays: `${Statements(1, remains.done)} ${were} applied and ${remain} in effect, because MySQL commits each statement separately`,
        correct: `correct the file from statement ${remains.done + 1} on`,
      }
    }
    case 'mayBeDone':
      return {
        stays: `Statement ${remains.statement} may have been applied anyway, because an earlier run ended without a report`,
        correct: 'check whether it was applied, correct the file',
      }
    case 'index':
      return {
        stays:
          'It may have left an unusable index, which slows writes and may reject them until the next run or migrate down drops it',
        correct: 'correct the file',
      }
    case 'chunks':
      return {
        stays: 'The chunks written so far remain in effect',
        correct: 'fix that',
        next: `it continues with the failed chunk, ${KEPT}`,
      }
    case 'chunk': {
      const { behind, most, written } = remains
      const key = behind.map(({ column, value }) => `${column} '${value}'`).join(', ')
      const chunk = behind.length === 0 ? 'The first chunk' : `The chunk after ${key}`
      return {
        stays: `${chunk} (at most ${most} rows) failed and was undone; ${writtenText(written)}`,
        correct: 'fix that',
        next: written === 0 ? 'it starts with this chunk' : `it continues with this chunk, ${KEPT}`,
      }
    }
  }
}

/** Returns the number of rows that all runs together have written, as a phrase. */
export function writtenText(written: number): string {
  if (written === 0) return 'no row was written'
  return written === 1 ? '1 row was written and remains' : `${written} rows were written and remain`
}

/** Returns `statement 3` or `statements 1 to 2`. */
export const statements = (first: number, last: number): string =>
  first === last ? `statement ${first}` : `statements ${first} to ${last}`

/** Returns the phrase with a capital letter. */
export const Statements = (first: number, last: number): string =>
  first === last ? `Statement ${first}` : `Statements ${first} to ${last}`
