import type { VersionStatus } from '../../lib/migrations/index.js'
import type { Paint } from '../paint.js'
import { printable } from '../printable.js'

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
    const why = error === undefined ? '' : ` ${printable(error.replace(/^migrations: /, ''))}`
    const adopted = isChecked ? '' : paint.dim(' (by another tool)')
    return `${name.padEnd(width)} ${colour[state](state)}${since}${adopted}${why}`
  })
}
