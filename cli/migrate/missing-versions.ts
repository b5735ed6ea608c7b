import type { VersionStatus } from '../../lib/migrations/index.js'
import { namesText } from './lines/names-text.js'

/** The names of the versions that the next `up` applies. */
export const missingAmong = (versions: readonly VersionStatus[]): readonly string[] =>
  versions.filter(({ isMissing }) => isMissing).map(({ name }) => name)

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
