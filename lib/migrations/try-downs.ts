import { MigrationError } from '../errors.js'
import { isOfFramework } from './files/migration-files.js'
import { readSet } from './migration-set.js'
import { withSession } from './session/session.js'
import { down } from './down.js'
import { up } from './runner.js'
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
      if (isOfFramework(version)) {
        await up(there, version)
        continue
      }
      const before = await contentsOf(there)
      const notRun: string[] = []
      const first = await faultOf(up(there, version).then(({ recorded = [] }) => notRun.push(...recorded)))
      if (first !== undefined) return [...differences, `${name} does not go up: ${first}`]
      // What did not run leaves nothing to bring back.
      if (notRun.includes(name) || splitStatements(sql ?? '', engine.syntax).statements.length === 0) continue
      const after = await contentsOf(there)
      const back = await faultOf(down(there))
      if (back !== undefined) return [...differences, `${name} goes up, but not down: ${back}`]
      differences.push(...differing(`${name}.down.sql`, before, await contentsOf(there)))
      const second = await faultOf(up(there, version))
      if (second !== undefined)
        return [...differences, `${name} goes up and down, but not up a second time: ${second}`]
      differences.push(
        ...differing(
          `${name}.up.sql, applied a second time after its way down,`,
          after,
          await contentsOf(there),
        ),
      )
    }
    return differences
  })
}

/** Why a file fails; undefined where it does not. @throws {MigrationError} for what is no fault of the file. */
async function faultOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (!(error instanceof MigrationError) || error.stop !== 'failed') throw error
    return error.message.replace(/^migrations: /, '')
  }
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
