import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../errors/failure.js'
import { FOR_EVERYBODY, reasonOf, writeWholeFile } from '../output/whole-file.js'

/** The texts of files by name. */
export type Files = Readonly<Record<string, string>>

/** The changes to a folder, made or planned. */
export interface FileChanges {
  readonly folder: string
  readonly written: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: number
  /** True if nothing was changed because of `--check`. */
  readonly checked: boolean
}

/**
 * Returns the matching SQL files of a folder; none if the folder does not exist.
 * @throws {Failure} if it cannot be read.
 */
export function readFiles(folder: string, matching: RegExp): Files {
  if (!existsSync(folder)) return {}
  try {
    const names = readdirSync(folder).filter((name) => matching.test(name))
    return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).code === 'ENOTDIR'
    const why = isFile ? 'is a file: name the folder' : `cannot be read: ${reasonOf(error)}`
    throw new Failure('input', `${folder} ${why}`, { cause: error })
  }
}

/**
 * Writes the `wanted` files that differ to a folder, and creates the folder. With `check` it only reports the
 * changes.
 */
export function applyFiles(
  folder: string,
  wanted: Files,
  unwanted: readonly string[],
  check: boolean,
): FileChanges {
  const present = readFiles(folder, /\.sql$/)
  const written = Object.keys(wanted)
    .filter((name) => present[name] !== wanted[name])
    .sort()
  const removed = unwanted.filter((name) => name in present).sort()
  const changes = {
    folder,
    written,
    removed,
    unchanged: Object.keys(wanted).length - written.length,
    checked: check,
  }
  if (check) return changes
  try {
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true })
    for (const name of written)
      writeWholeFile(join(folder, name), wanted[name] ?? '', join(folder, name), FOR_EVERYBODY)
    for (const name of removed) rmSync(join(folder, name))
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('output', `${folder} cannot be written: ${reasonOf(error)}`, { cause: error })
  }
  return changes
}

/** Returns true if there are changes. */
export const differs = ({ written, removed }: FileChanges): boolean => written.length + removed.length > 0
