import { isOfFramework } from './files/migration-files.js'
import { readSet } from './migration-set.js'
import { withSession } from './open-session.js'
import type { ResolvedOptions } from './session/options.js'

/** A schema of the database that has a version table. */
export interface VersionedSchema {
  readonly name: string
  /** The versions of these files that it has, without the framework's: it may be the one that is meant. */
  readonly same: readonly string[]
}

/** The schemas of the database that have versions of a module; empty on MySQL, which has none. Changes nothing. */
export async function versionedSchemas(options: ResolvedOptions): Promise<readonly VersionedSchema[]> {
  const { schemas } = options.engine
  if (schemas === undefined) return []
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const ours = migrations.filter(({ version }) => !isOfFramework(version)).map(({ name }) => name)
  return withSession(options, 'read', async (session) => {
    const found: VersionedSchema[] = []
    for (const { name } of await session.rows(schemas.all)) {
      const schema = String(name)
      // The versions of another module may be hidden from this user.
      const rows = await session.rows(schemas.versionsIn(schema)).catch(() => [])
      const there = rows.map((row) => String(row.name))
      found.push({ name: schema, same: ours.filter((one) => there.includes(one)) })
    }
    return found
  })
}
