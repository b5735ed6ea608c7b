import type { VersionStatus } from '../../../lib/migrations/index.js'
import type { Ran } from '../run-cli.js'

/** A version in the output of `ashlar migrate status --json`. Times are strings. */
export type VersionState = Omit<VersionStatus, 'appliedAt' | 'lastRunAt'> & {
  readonly appliedAt?: string
  readonly lastRunAt?: string
}

/** Returns the entry of a version in `ashlar migrate status --json`; undefined if it is not listed. */
export async function versionState(
  run: (...args: readonly string[]) => Promise<Ran>,
  name: string,
  ...args: readonly string[]
): Promise<VersionState | undefined> {
  const versions = JSON.parse((await run('status', '--json', ...args)).stdout) as readonly VersionState[]
  return versions.find((version) => version.name === name)
}
