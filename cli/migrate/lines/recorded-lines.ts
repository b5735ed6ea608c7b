import type { Migrator } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'

const FRAMEWORK = '0001_framework_init'

/** One line for each version that a baseline recorded. Of the framework's own, it made the tables that were missing. */
export async function recordedLines(
  recorded: readonly string[],
  migrator: Migrator,
  paint: Paint,
): Promise<readonly string[]> {
  const versions = recorded.includes(FRAMEWORK) ? await migrator.status().catch(() => []) : []
  const isMade = versions.some(({ name, isRecorded }) => name === FRAMEWORK && !isRecorded)
  return recorded.map((name) =>
    isMade && name === FRAMEWORK
      ? `${paint.good('created')} the framework’s own tables that were missing (${name})`
      : `${paint.good('recorded')} ${name}`,
  )
}
