import type { VersionStatus } from '../../../lib/migrations/index.js'
import type { Ran } from '../run-cli.js'

/** A version as `ashlar migrate status --json` has it: times are texts. */
export type VersionState = Omit<VersionStatus, 'appliedAt' | 'lastRunAt'> & {
  readonly appliedAt?: string
  readonly lastRunAt?: string
}

/** What `ashlar migrate status --json` says of a version; undefined where it lists none of that name. */
export async function versionState(
  run: (...args: readonly string[]) => Promise<Ran>,
  name: string,
  ...args: readonly string[]
): Promise<VersionState | undefined> {
  const versions = JSON.parse((await run('status', '--json', ...args)).stdout) as readonly VersionState[]
  return versions.find((version) => version.name === name)
}
