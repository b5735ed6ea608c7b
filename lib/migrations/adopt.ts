import { MigrationError } from '../errors.js'
import { type Migration, toFileNumber } from './files.js'
import { ADOPTED_TABLE } from './names.js'
import type { ResolvedOptions } from './options.js'
import type { Session } from './session.js'
import { appliedRow, readAdopted, readVersions, writeVersion } from './version-table.js'
import { splitStatements } from './sql-statements.js'

/**
 * Takes over, on first contact, what another tool recorded in a two-column `schema_migrations`: every file up to its version
 * counts as applied, with a checksum nobody knows. The table stays as it is.
 * @throws {MigrationError} when that tool left its version dirty, or these files do not have it.
 */
export async function adopt(
  session: Session,
  options: ResolvedOptions,
  migrations: readonly Migration[],
): Promise<void> {
  if ((await readVersions(session)).length > 0) return
  const adopted = await readAdopted(session)
  if (adopted === undefined) return
  const number = toFileNumber(adopted.version)
  if (adopted.dirty)
    throw new MigrationError(
      'dirty',
      `${ADOPTED_TABLE} says that ${number} is dirty: put it right with the tool that made it, then run again`,
    )
  if (!migrations.some(({ version }) => version === adopted.version))
    throw new MigrationError(
      'dirty',
      `${ADOPTED_TABLE} is at ${number}, which these files do not have: the first run needs the files that were applied`,
    )
  const versions = migrations.filter(({ version }) => version <= adopted.version)
  await session.run(session.dialect === 'postgres' ? 'BEGIN' : 'START TRANSACTION', 0)
  for (const migration of versions) {
    const { statements } = splitStatements(migration.up, session.dialect)
    await writeVersion(session, { ...appliedRow(migration, statements.length), checksum: undefined })
  }
  await session.run('COMMIT', 0)
  options.report({ kind: 'adopted', from: ADOPTED_TABLE, versions: versions.map(({ name }) => name) })
}
