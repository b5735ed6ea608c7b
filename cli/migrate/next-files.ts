import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CommandLine } from '../../lib/migrations/index.js'
import { DEFAULT_DIALECT, type Dialect, DIALECTS } from '../../lib/migrations/files/dialect-name.js'
import { nextSearchVersion } from '../../lib/migrations/files/search-migrations.js'
import { Failure } from '../errors/failure.js'
import { reasonOf } from '../output/whole-file.js'

/** A migration to write: its description, such as `add_colour`, and its SQL for each engine. */
export interface NextVersion {
  readonly description: string
  /** Present if it gets a number of the range used by `search generate`. */
  readonly isSearch?: true
  readonly sqlFor: (dialect: Dialect) => { readonly up: string; readonly down: string }
}

export interface NextFiles {
  /** The names, such as `0007_add_colour`. A name that several engines share occurs once. */
  readonly names: readonly string[]
  /** The files that were written. */
  readonly files: readonly string[]
}

const DESCRIPTION = /^[a-z0-9]+(_[a-z0-9]+)*$/
const NOTHING = { up: '', down: '' }
/** The first free number. 0001 belongs to the framework. */
const FIRST = 2
/** The highest number of a hand-written migration. */
export const LAST = 7999

/** @throws {Failure} for an invalid name. */
export function checkDescription(description: string): void {
  if (!DESCRIPTION.test(description))
    throw new Failure(
      'input',
      `${description} cannot be used in a name: write lower-case words joined by _, such as add_colour`,
    )
}

/** Returns a migration with empty files to fill in. */
export const emptyVersion = (description: string): NextVersion => ({
  description,
  sqlFor: () => NOTHING,
})

/**
 * Returns the folders with each engine's files. If the folder itself contains files, they are for `dialect`.
 * Otherwise these are the existing engine folders, or all engines' folders if there are none.
 */
export function foldersOf(
  folder: string,
  dialect: Dialect | undefined,
): readonly { readonly dialect: Dialect; readonly folder: string }[] {
  if (sqlIn(folder).length > 0) return [{ dialect: dialect ?? DEFAULT_DIALECT, folder }]
  const there = DIALECTS.filter((one) => existsSync(join(folder, one)))
  const dialects = dialect !== undefined ? [dialect] : there.length > 0 ? there : DIALECTS
  return dialects.map((one) => ({ dialect: one, folder: join(folder, one) }))
}

/** Returns true if a migration's file is a backfill, which changes rows and no table. */
export const isBackfill = (folder: string, name: string): boolean =>
  foldersOf(folder, undefined).some((one) => {
    const file = join(one.folder, `${name}.up.sql`)
    return existsSync(file) && /^\s*(?:--|#|\/\*)\s*ashlar:backfill\b/m.test(readFileSync(file, 'utf8'))
  })

/** Returns true if there is a folder for the files of an engine. */
export function hasFolder(folder: string, dialect: Dialect | undefined): boolean {
  const there = DIALECTS.filter((one) => existsSync(join(folder, one)))
  return there.length === 0 ? existsSync(folder) : dialect === undefined || there.includes(dialect)
}

/** @throws {Failure} if the folder does not exist. */
export function refuseMissing(folder: string, command: CommandLine): void {
  if (!existsSync(folder))
    throw new Failure(
      'input',
      `there is no folder ${folder}: name the folder of the files; ${command('migrate new')} writes the first files`,
    )
}

/** Returns true if the engine has no folder although another one has. */
export const isLeftOut = (folder: string, dialect: Dialect): boolean =>
  existsSync(folder) && !hasFolder(folder, dialect)

/** Returns the folder of an engine if it contains no files; undefined if it does. */
export function emptyFolder(folder: string, dialect: Dialect): string | undefined {
  const own = join(folder, dialect)
  const there = existsSync(own) ? own : folder
  return hasFolder(folder, dialect) && sqlIn(there).length === 0 ? there : undefined
}

export const emptyText = (folder: string): string =>
  `${folder} has no .sql file: only the framework’s own migrations exist`

/**
 * Writes the up and down files of the next migrations, either all or none.
 * @throws {Failure} if no number is left, or if a folder cannot be written.
 */
export function writeNextFiles(
  folder: string,
  dialect: Dialect | undefined,
  versions: readonly NextVersion[],
): NextFiles {
  const folders = foldersOf(folder, dialect)
  const named = folders.flatMap((one) => {
    const next = numbering(one.folder)
    return versions.map(({ description, isSearch, sqlFor }) => ({
      ...one,
      name: `${String(next(isSearch === true)).padStart(4, '0')}_${description}`,
      sql: sqlFor(one.dialect),
    }))
  })
  const texts = named.flatMap((one) =>
    (['up', 'down'] as const).map((direction) => ({
      file: join(one.folder, `${one.name}.${direction}.sql`),
      text: one.sql[direction],
    })),
  )
  const written: string[] = []
  try {
    for (const one of folders) mkdirSync(one.folder, { recursive: true })
    for (const { file, text } of texts) {
      const opened = openSync(file, 'wx')
      written.push(file)
      try {
        writeFileSync(opened, text)
      } finally {
        closeSync(opened)
      }
    }
  } catch (error) {
    removeFiles(written)
    throw new Failure('output', `nothing is written: ${whyNot(error)}`, { cause: error })
  }
  return { names: [...new Set(named.map(({ name }) => name))], files: written }
}

/** Removes files that were written. */
export function removeFiles(files: readonly string[]): void {
  for (const file of files) unlinkSync(file)
}

/** Returns a function that returns consecutive numbers for new files in a folder. */
function numbering(folder: string): (isSearch: boolean) => number {
  let [byHand, search] = [nextNumber(folder), nextSearchVersion(sqlIn(folder))]
  return (isSearch) => {
    if (!isSearch && byHand > LAST)
      throw new Failure('input', `${LAST} was the last number for hand-written files`)
    return isSearch ? search++ : byHand++
  }
}

/**
 * Returns the next number of an engine. Each engine has its own numbers without gaps, because one may need a
 * change that another does not.
 */
const nextNumber = (folder: string): number =>
  Math.max(FIRST, ...sqlIn(folder).map((file) => numberOf(file) + 1))

function whyNot(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException
  if (path === undefined) return reasonOf(error)
  return code === 'EEXIST' ? `${path} already exists` : `${path}: ${reasonOf(error)}`
}

function sqlIn(folder: string): readonly string[] {
  try {
    return existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.sql')) : []
  } catch (error) {
    throw new Failure('output', `nothing is written: ${whyNot(error)}`, { cause: error })
  }
}

/** Returns true if the folder contains a hand-written migration of the engine. */
export const hasVersions = (folder: string, dialect: Dialect): boolean =>
  hasFolder(folder, dialect) &&
  foldersOf(folder, dialect).some((one) => sqlIn(one.folder).some((file) => isByHand(file)))

/**
 * Returns the name of the engine's migration that contains another tool's schema, such as
 * `0002_adopted_knex`.
 */
export const adoptedIn = (folder: string, dialect: Dialect): string | undefined =>
  foldersOf(folder, dialect)
    .flatMap((one) => sqlIn(one.folder))
    .map((file) => /^(0002_adopted_\w+)\.up\.sql$/.exec(file)?.[1])
    .find((name) => name !== undefined)

/** Returns true if a name such as `0002_widgets` belongs to a hand-written migration. */
export const isByHand = (name: string): boolean => numberOf(name) >= FIRST

/** Returns the number of a hand-written file; 0 for any other. */
export function numberOf(file: string): number {
  const number = Number(/^(\d{4})_/.exec(file)?.[1] ?? 0)
  return number <= LAST ? number : 0
}
