import { createHash } from 'node:crypto'
import { repeating } from '../../dialects/values/bound-value.js'
import type { Statement } from './executor.js'

/**
 * Returns a statement named by a hash of its SQL. Behind a pooler, processes share sessions. With an ordinary
 * name, an older process could have prepared different SQL under it, which would run instead.
 */
export const named = (text: string): Statement => ({
  name: `ashlar_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
  ...repeating(text),
})

/** Returns a statement that is planned for the values of each run. */
export const plannedByValue = (text: string): Statement => ({ ...named(text), isPlannedByValue: true })
