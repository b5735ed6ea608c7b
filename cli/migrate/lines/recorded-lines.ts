import type { BaselineResult } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'

/** One line for each version that a baseline recorded. Of the framework's own, it made the tables that were missing. */
export const recordedLines = ({ applied, recorded }: BaselineResult, paint: Paint): readonly string[] => [
  ...applied.map((name) => `${paint.good('created')} the framework’s own tables that were missing (${name})`),
  ...recorded.map((name) => `${paint.good('recorded')} ${name} as applied: nothing of it was run`),
]
