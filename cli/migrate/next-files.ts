import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.js'

export interface NextFiles {
  /** `0007_add_colour`. */
  readonly name: string
  /** The files that were written. */
  readonly files: readonly string[]
}

const ENGINES = ['postgres', 'mysql']
const DESCRIPTION = /^[a-z0-9]+(_[a-z0-9]+)*$/
/** 0001 is the framework's. */
const FIRST = 2
const LAST = 7999

/**
 * Writes empty files for the next version, up and down, for both engines; a folder that has files without the folders of the
 * engines gets them beside those.
 * @throws {Failure} for a name that cannot be one, or a folder that cannot be written.
 */
export function writeNextFiles(folder: string, description: string): NextFiles {
  if (!DESCRIPTION.test(description))
    throw new Failure(
      'input',
      `${description} cannot be a name: lower-case words joined by _, such as add_colour`,
    )
  const isFlat = sqlIn(folder).length > 0
  const folders = isFlat ? [folder] : ENGINES.map((engine) => join(folder, engine))
  const number = Math.max(
    FIRST,
    ...folders
      .flatMap(sqlIn)
      .map(numberOf)
      .map((one) => one + 1),
  )
  if (number > LAST) throw new Failure('input', `${LAST} was the last number there is for hand-written files`)
  const name = `${String(number).padStart(4, '0')}_${description}`
  const files = folders.flatMap((one) =>
    ['up', 'down'].map((direction) => join(one, `${name}.${direction}.sql`)),
  )
  try {
    for (const one of folders) mkdirSync(one, { recursive: true })
    for (const file of files) writeFileSync(file, '', { flag: 'wx' })
  } catch (error) {
    throw new Failure('output', `${folder}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return { name, files }
}

const sqlIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.sql')) : []

/** Of a hand-written file; 0 for any other. */
function numberOf(file: string): number {
  const number = Number(/^(\d{4})_/.exec(file)?.[1] ?? 0)
  return number <= LAST ? number : 0
}
