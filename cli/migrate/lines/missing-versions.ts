import type { CommandLine, VersionStatus } from '../../../lib/migrations/index.js'
import { namesText } from './names-text.js'

/** Returns the names of the migrations that the next `up` applies. */
export const missingAmong = (versions: readonly VersionStatus[]): readonly string[] =>
  versions.filter(({ isMissing }) => isMissing).map(({ name }) => name)

/**
 * Returns the reason why there is nothing to do. It contains the recorded migrations without a file, because
 * they may belong to another database.
 */
export function nothingText(
  versions: readonly Pick<VersionStatus, 'name' | 'state' | 'isMissing'>[],
  command: CommandLine,
  nothing = 'nothing to do',
): string {
  const ahead = versions.filter(({ state }) => state === 'ahead').map(({ name }) => name)
  const dirty = versions.filter(({ state, isMissing }) => state === 'dirty' && !isMissing)
  if (ahead.length + dirty.length === 0) return `${nothing}: the schema is current`
  const lacked = ahead.length === 0 ? '' : `, and ${namesText(ahead)}, which these files lack`
  const failed = dirty
    .map(({ name }) => `; ${name} is dirty: ${command('migrate status')} prints what to do`)
    .join('')
  return `${nothing}: the database has every migration of these files${lacked}${failed}`
}

/**
 * Formats the pending migrations as `applies 0003_c`, including a rollback to be completed first; empty if
 * there are none.
 */
export function appliesText(versions: readonly VersionStatus[]): string {
  const missing = missingAmong(versions)
  if (missing.length === 0) return ''
  const half = versions.filter(({ isMissing, unfinished }) => isMissing && unfinished?.direction === 'down')
  const rollBack =
    half.length === 0
      ? ''
      : `first finishes the rollback of ${namesText(half.map(({ name }) => name))}, which stopped, and then `
  return `${rollBack}applies ${namesText(missing)}`
}
