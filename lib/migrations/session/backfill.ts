import { summaryOf } from '../sql/statements.js'
import { refuseAborted } from './stoppable.js'
import type { Remains, Step } from './step.js'

/** What a backfill leaves behind that fails. */
export const ROWS_STAY: Remains = {
  stays: 'The rows that are filled stay',
  correct: 'correct what it says and run again',
}

/**
 * Repeats the only statement of a backfill until it writes no row. Each time commits by itself, so that no lock is held for
 * long and a run that was ended goes on where it stopped: the rows that are done are not found again.
 * @throws {SessionError}
 */
export async function fillRows(step: Step): Promise<void> {
  const { session, options, name: version, statements } = step
  const [statement] = statements
  if (statement === undefined) return
  const event = { kind: 'statement', version, number: 1, of: 1, summary: summaryOf(statement) } as const
  options.report({ ...event, step: 'started' })
  const started = performance.now()
  let rows = 0
  for (let written = -1; written !== 0; rows += written) {
    refuseAborted(options.signal)
    written = await session.run(statement.text, options.statementTimeoutMs, options.signal)
    options.report({
      kind: 'filled',
      version,
      rows: rows + written,
      ms: Math.round(performance.now() - started),
    })
  }
  options.report({ ...event, step: 'ended' })
}
