import type { VersionStatus } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'

const DIED = 'its host died in the middle: run ashlar migrate up with the files that have it'

/** One line for each version. */
export function statusLines(versions: readonly VersionStatus[], paint: Paint): readonly string[] {
  const width = Math.max(...versions.map(({ name }) => name.length))
  return versions.map(({ name, state, appliedAt, error, isChecked }) => {
    const colour = {
      applied: paint.good,
      pending: paint.warn,
      running: paint.warn,
      dirty: paint.bad,
      edited: paint.bad,
      ahead: paint.dim,
    }
    const since = appliedAt === undefined ? '' : paint.dim(` ${appliedAt.toISOString()}`)
    const reason = error ?? (state === 'dirty' ? DIED : '')
    const why = reason === '' ? '' : ` ${terminalLine(reason.replace(/^migrations: /, ''))}`
    const adopted = isChecked ? '' : paint.dim(' (by another tool)')
    return `${name.padEnd(width)} ${colour[state](state)}${since}${adopted}${why}`
  })
}
