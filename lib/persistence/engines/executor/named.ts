import { createHash } from 'node:crypto'
import { repeating } from '../../dialects/values/bound-value.js'
import type { Statement } from './executor.js'

/**
 * Returns a statement whose name is a hash of its SQL. Behind a pooler, processes share sessions: an older
 * process may have prepared different SQL under an ordinary name, and that SQL would run instead.
 */
export const named = (text: string): Statement => ({
  name: `ashlar_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
  ...repeating(text),
})

/** Returns a statement that is planned for the values of each run. */
export const plannedByValue = (text: string): Statement => ({ ...named(text), isPlannedByValue: true })
