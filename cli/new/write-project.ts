import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../errors/failure.js'
import { reasonOf } from '../output/whole-file.js'

/** @throws {Failure} for an existing path that is not an empty folder. `shown` is its name in messages. */
export function checkEmpty(folder: string, shown: string): void {
  if (!existsSync(folder)) return
  if (!statSync(folder).isDirectory())
    throw new Failure('input', `${shown} is a file: name a folder that is empty or does not exist yet`)
  const [first] = readdirSync(folder)
  if (first !== undefined)
    throw new Failure(
      'input',
      `${shown} contains ${first}: name a folder that is empty or does not exist yet`,
    )
}

/**
 * Writes the files into an empty or new folder, either all or none: they are renamed after all have been
 * written.
 * @throws {Failure} if they cannot be written.
 */
export function writeProject(folder: string, files: ReadonlyMap<string, string>, shown: string): void {
  const wasThere = existsSync(folder)
  try {
    mkdirSync(folder, { recursive: true })
    const draft = mkdtempSync(join(folder, '.ashlar-new-'))
    for (const [path, text] of files) {
      mkdirSync(dirname(join(draft, path)), { recursive: true })
      writeFileSync(join(draft, path), text, { flag: 'wx' })
    }
    for (const name of readdirSync(draft)) renameSync(join(draft, name), join(folder, name))
    rmSync(draft, { recursive: true })
  } catch (error) {
    if (wasThere) for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
    else rmSync(folder, { recursive: true, force: true })
    throw new Failure('output', `${shown} cannot be written: ${reasonOf(error)}`, { cause: error })
  }
}
