import { MigrationError, type MigrationStop } from '../errors.js'
import { isOfFramework } from './files/migration-files.js'
import type { Finding } from './lint/lint-file.js'
import { emptyCopyText } from './messages/empty-copy.js'
import type { MigrationProblem } from './messages/problem.js'
import type { StatementFailed } from './messages/statement-failed.js'
import type { TriedDown } from './messages/tried-downs.js'
import { readSet } from './migration-set.js'
import { withSession } from './session/session.js'
import { down } from './roll-back.js'
import { up } from './runner.js'
import { scratchOf } from './scratch.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import { splitStatements } from './sql/split-statements.js'

/** A database's contents: definitions by object, such as `column colour of tasks`. */
type Contents = ReadonlyMap<string, string>

/** The result of `tryUps`. */
export interface TriedUps {
  /**
   * The first statement that fails, after which no file is tried. If none fails, the objects that the files
   * leave broken.
   */
  readonly findings: readonly Finding[]
  /** The reason why no version was applied. Undefined if versions were applied. */
  readonly untried: MigrationProblem | undefined
}

/** The reasons why an empty database cannot be created or used. None of them is a file's fault. */
const WITHOUT_DATABASE: readonly MigrationStop[] = ['connection', 'denied', 'pooler', 'readOnly']

/**
 * Applies the module's versions in a scratch database until one fails, and finds the objects that they leave
 * broken.
 */
export async function tryUps(options: ResolvedOptions, scratch?: string): Promise<TriedUps> {
  try {
    return { findings: await scratchOf(options, scratch).use(findingsIn), untried: undefined }
  } catch (error) {
    if (!(error instanceof MigrationError) || !WITHOUT_DATABASE.includes(error.stop)) throw error
    return { findings: [], untried: error.problem as MigrationProblem }
  }
}

async function findingsIn(there: ResolvedOptions): Promise<readonly Finding[]> {
  const { engine, files, statementTimeoutMs } = there
  const { broken } = engine.scratch
  if (broken === undefined) {
    const failed = await errorOf(up(there))
    return failed === undefined ? [] : [findingOf(failed)]
  }
  /** The broken objects, each with the file that broke it. */
  let found = new Map<string, string>()
  for (const { version, file } of (await readSet(files, engine, statementTimeoutMs)).migrations) {
    const failed = await errorOf(up(there, version))
    if (failed !== undefined) return [findingOf(failed)]
    const objects = await withSession(there, 'read', broken)
    found = new Map(objects.map((object) => [object, found.get(object) ?? file]))
  }
  return [...new Set(found.values())].map((file) => ({
    ...refusal(file, 1),
    text: emptyCopyText({
      kind: 'breaks',
      objects: [...found.keys()].filter((object) => found.get(object) === file),
    }),
  }))
}

const refusal = (file: string, line: number) =>
  ({ file, line, rule: 'fails-on-empty', level: 'refuse' }) as const

function findingOf({ problem, version = '' }: MigrationError): Finding {
  const { file = `${version}.up.sql`, place } = problem as Partial<StatementFailed>
  const found = problem as MigrationProblem
  return {
    ...refusal(file, place?.line ?? 1),
    text: emptyCopyText({ kind: 'fails', problem: found }),
    problem: found,
  }
}

/**
 * Applies each version of the module in a scratch database, rolls it back, and applies it again. Returns
 * every object that then differs, and stops at the first version that fails.
 */
export async function tryDowns(options: ResolvedOptions, scratch?: string): Promise<readonly TriedDown[]> {
  const { engine } = options
  const { migrations } = await readSet(options.files, engine, options.statementTimeoutMs)
  return scratchOf(options, scratch).use(async (there) => {
    const found: TriedDown[] = []
    for (const { version, name, down: sql } of migrations) {
      if (isOfFramework(version)) {
        await up(there, version)
        continue
      }
      const before = await contentsOf(there)
      const notRun: string[] = []
      const first = await faultOf(up(there, version).then(({ recorded = [] }) => notRun.push(...recorded)))
      const failed = (step: 'up' | 'down' | 'again', problem: MigrationError['problem']) =>
        [...found, { kind: 'fails', version: name, step, problem }] as const
      if (first !== undefined) return failed('up', first)
      // A version that did not run changed nothing that could be restored.
      if (notRun.includes(name) || splitStatements(sql ?? '', engine.syntax).statements.length === 0) continue
      const after = await contentsOf(there)
      const back = await faultOf(down(there))
      if (back !== undefined) return failed('down', back)
      found.push(...differing(name, 'down', before, await contentsOf(there)))
      const second = await faultOf(up(there, version))
      if (second !== undefined) return failed('again', second)
      found.push(...differing(name, 'again', after, await contentsOf(there)))
    }
    return found
  })
}

/**
 * Returns the error of a file, or undefined if it succeeds.
 *
 * @throws {MigrationError} if the file is not the cause of the error.
 */
async function errorOf(work: Promise<unknown>): Promise<MigrationError | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (!(error instanceof MigrationError) || error.stop !== 'failed') throw error
    return error
  }
}

const faultOf = async (work: Promise<unknown>): Promise<MigrationError['problem'] | undefined> =>
  (await errorOf(work))?.problem

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

function differing(
  version: string,
  step: 'down' | 'again',
  wanted: Contents,
  found: Contents,
): readonly TriedDown[] {
  const objects = [...new Set([...wanted.keys(), ...found.keys()])].sort()
  return objects.flatMap((object) => {
    if (wanted.get(object) === found.get(object)) return []
    const effect = found.has(object) ? (wanted.has(object) ? 'changes' : 'leaves') : 'loses'
    return [{ kind: 'differs', version, step, effect, object }]
  })
}
