import { MigrationError } from '../errors.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import type { AppliedVersion } from './session/version-table.js'

/** @throws {MigrationError} where the run was cancelled, or its session is not its own any more. */
export async function beforeStep(
  session: Session,
  { signal }: ResolvedOptions,
  direction: 'up' | 'down',
  { name, version }: Pick<AppliedVersion, 'name' | 'version'>,
): Promise<void> {
  if (signal?.aborted === true)
    throw new MigrationError('cancelled', `cancelled before ${name}: what stands before it is done`, name)
  await session.guard()
  session.announce({ direction, version })
}
