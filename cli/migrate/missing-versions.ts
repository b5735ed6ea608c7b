import type { Migrator, VersionStatus } from '../../lib/migrations/index.js'

/** The names of the versions that the next `up` applies. */
export async function missingVersions(migrator: Migrator): Promise<readonly string[]> {
  return missingAmong(await migrator.status())
}

export const missingAmong = (versions: readonly VersionStatus[]): readonly string[] =>
  versions
    .filter(
      ({ state, unfinished }) =>
        state === 'pending' || (state === 'dirty' && unfinished?.staysApplied !== true),
    )
    .map(({ name }) => name)
