import { MigrationError } from '../errors.js'
import { isOfFramework } from './files/migration-files.js'
import { readSet } from './migration-set.js'
import { withSession } from './open-session.js'
import { down, up } from './runner.js'
import { scratchOf } from './scratch.js'
import type { ResolvedOptions } from './session/options.js'
import { splitStatements } from './sql/statements.js'

/** What a database holds: definitions by object, such as `column colour of tasks`. */
type Contents = ReadonlyMap<string, string>

/**
 * Applies each version of the module in a scratch database, rolls it back, and applies it again. Returns a line for
 * everything that is then not as it was, and stops at the first version that fails.
 */
export async function tryDowns(options: ResolvedOptions, scratch?: string): Promise<readonly string[]> {
  const { engine } = options
  const { migrations } = await readSet(options.files, engine, options.statementTimeoutMs)
  return scratchOf(options, scratch).use(async (there) => {
    const differences: string[] = []
    for (const { version, name, down: sql } of migrations) {
      const before = await contentsOf(there)
      await up(there, version)
      const hasWayDown = splitStatements(sql ?? '', engine.syntax).statements.length > 0
      if (isOfFramework(version) || !hasWayDown) continue
      try {
        const after = await contentsOf(there)
        await down(there)
        differences.push(...differing(`${name}.down.sql`, before, await contentsOf(there)))
        await up(there, version)
        differences.push(...differing(`${name}.up.sql, the second time,`, after, await contentsOf(there)))
      } catch (error) {
        if (!(error instanceof MigrationError) || error.stop !== 'failed') throw error
        return [...differences, error.message.replace(/^migrations: /, '')]
      }
    }
    return differences
  })
}

function contentsOf(options: ResolvedOptions): Promise<Contents> {
  return withSession(options, 'read', async (session) => {
    const rows = await session.rows(options.engine.scratch.contents)
    return new Map(
      rows.map(({ object, definition }) => [
        String(object),
        typeof definition === 'string' ? definition : '',
      ]),
    )
  })
}

function differing(file: string, wanted: Contents, found: Contents): readonly string[] {
  const objects = [...new Set([...wanted.keys(), ...found.keys()])].sort()
  return objects.flatMap((object) => {
    if (wanted.get(object) === found.get(object)) return []
    if (!found.has(object)) return [`${file} does not bring back ${object}`]
    return [`${file} ${wanted.has(object) ? 'changes' : 'leaves'} ${object}`]
  })
}
