import { MigrationError } from '../../errors.js'
import { type Migration, toFileNumber, toFileNumbers } from '../files/migration-files.js'
import { ADOPTED_TABLE } from '../files/names.js'
import type { Session } from '../session/session.js'
import { type AppliedVersion, readAdopted } from '../session/version-table.js'
import type { Script } from '../sql/statements.js'
import { refuseUnusable, takenOver } from './adopt.js'
import { refuseMoved } from './adopted-head.js'

/** What the history of another tool means for the next `up`. */
export interface OtherHistory {
  /** For people. */
  readonly text: string
  /** Whether `up` refuses the database because of it. */
  readonly isRefused: boolean
}

/** What another tool recorded before the first contact, or has done since it was taken over; undefined for nothing. */
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
    return {
      text: `up refuses this database: ${error.message.replace(/^migrations: /, '')}`,
      isRefused: true,
    }
  }
  if (adopted === undefined) return undefined
  const taken = await takenOver(session, adopted.version, migrations)
  const numbers = toFileNumbers(taken.map(({ version }) => version))
  return {
    text: `${ADOPTED_TABLE} is at ${toFileNumber(adopted.version)}: up takes over ${numbers} without running them`,
    isRefused: false,
  }
}
