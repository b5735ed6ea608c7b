import { MigrationError } from '../../errors.js'
import type { Migration } from '../files/migration-files.js'
import { ADOPTED_TABLE } from '../files/framework-tables.js'
import type { OtherHistory } from '../messages/history.js'
import type { Session } from '../session/session.js'
import { type AppliedVersion, readAdopted } from '../session/version-table.js'
import type { Script } from '../sql/split-statements.js'
import { refuseUnusable, takenOver } from './adopt-history.js'
import { refuseMoved } from './adopted-head.js'

/**
 * Returns the migrations that another tool recorded before the first run, or has run since its history was
 * imported. Undefined if there are none.
 */
export async function otherHistory(
  session: Session,
  migrations: readonly (Migration & { readonly script: Script })[],
  rows: readonly AppliedVersion[],
): Promise<OtherHistory | undefined> {
  const adopted = rows.length === 0 ? await readAdopted(session) : undefined
  try {
    await refuseMoved(session, migrations)
    refuseUnusable(adopted, migrations)
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    return { isRefused: true, problem: error.problem }
  }
  if (adopted === undefined) return undefined
  const taken = await takenOver(session, adopted.version, migrations)
  const versions = taken.map(({ version }) => version)
  return { isRefused: false, table: ADOPTED_TABLE, at: adopted.version, versions }
}
