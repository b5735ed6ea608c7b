import { createHash } from 'node:crypto'
import { repeating } from '../../dialects/values/bound-value.js'
import type { Statement } from './executor.js'

/**
 * A statement that is named after its text. Behind a pooler, processes share sessions: an older process may
 * have prepared another text under an ordinary name, and that would run instead.
 */
export const named = (text: string): Statement => ({
  name: `ashlar_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
  ...repeating(text),
})

/** A statement whose plan depends on the values of each run. */
export const plannedByValue = (text: string): Statement => ({ ...named(text), isPlannedByValue: true })
