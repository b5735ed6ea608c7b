import type { CommandLine, VersionStatus } from '../../../lib/migrations/index.js'
import { namesText } from './names-text.js'

/** The names of the versions that the next `up` applies. */
export const missingAmong = (versions: readonly VersionStatus[]): readonly string[] =>
  versions.filter(({ isMissing }) => isMissing).map(({ name }) => name)

/**
 * The reason why there is nothing to do. It names the versions that these files lack, because they may belong
 * to another database.
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

/** `applies 0003_c`, with the rollback that is finished before; empty where nothing is missing. */
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
