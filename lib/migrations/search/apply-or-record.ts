import { MigrationError } from '../../errors.js'
import type { Migration } from '../files/migration-files.js'
import type { ResolvedOptions } from '../session/migrate-options.js'
import type { Progress } from '../session/progress.js'
import type { Session } from '../session/session.js'
import { recordedRow, writeVersion } from '../session/version-table.js'
import type { Script } from '../sql/split-statements.js'
import { stoppedAgain } from '../messages/problem.js'
import { isSearchVersion, whyNotNeeded } from './search-versions.js'

interface Version extends Migration {
  readonly script: Script
}

interface Applying {
  readonly session: Session
  readonly options: ResolvedOptions
  readonly migration: Version
  /** All versions of the files. */
  readonly all: readonly Version[]
  /** True if the version is the index of a vector that was not created. */
  readonly lacksVector: boolean
}

/**
 * Applies a version. A generated search version that reads missing columns and is not needed is only
 * recorded.
 *
 * @param apply - returns false if the version turns out to be applied.
 * @throws the error of `apply` otherwise.
 */
export async function applyOrRecord(
  { session, options, migration, all, lacksVector }: Applying,
  apply: () => Promise<boolean>,
): Promise<'applied' | 'recorded' | 'unchanged'> {
  const why = whyNotNeeded(migration, all)
  const record = async (because: Recorded['because'], needless: Recorded['needless']) => {
    await writeVersion(session, recordedRow(migration))
    options.report({ kind: 'recorded', version: migration.name, because, needless })
    return 'recorded' as const
  }
  if (why !== undefined && lacksVector) return record('vectorNotMade', why)
  try {
    return (await apply()) ? 'applied' : 'unchanged'
  } catch (error) {
    const { missing } = options.engine.failures
    if (!(error instanceof MigrationError) || !missing.includes(error.sqlState ?? '')) throw error
    if (why !== undefined) return record('sourceGone', why)
    throw isSearchVersion(migration)
      ? stoppedAgain(error, { kind: 'searchVersionFailed', cause: error.problem })
      : error
  }
}

type Recorded = Extract<Progress, { readonly kind: 'recorded' }>
