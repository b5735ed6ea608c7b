import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Dialect } from '../../lib/migrations/files/dialect-name.js'
import type { CommandLine } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { readingReasonOf, reasonOf } from '../output/whole-file.js'
import { namesText } from './lines/names-text.js'
import { foldersOf, isByHand, LAST, numberOf, refuseMissing } from './next-files.js'

/** A renumbered migration. */
export interface Renumbered {
  readonly folder: string
  readonly from: string
  readonly to: string
  /** Other migrations that ran after it and now run before it. */
  readonly overtaken: readonly string[]
}

const FILE = /^(\d{4}_.+)\.(?:(?:up|down)\.sql|up\.m?[jt]s)$/

/**
 * Renumbers migrations after all other hand-written ones, in the given order, in the folder of each engine
 * that contains them.
 * @throws {Failure} for a migration that does not exist or is not hand-written, and if a gap would remain.
 */
export function renumber(
  folder: string,
  dialect: Dialect | undefined,
  names: readonly string[],
  command: CommandLine,
): readonly Renumbered[] {
  const wrong = names.filter((name) => !isByHand(name))
  if (wrong.length > 0)
    throw new Failure(
      'input',
      `${wrong.join(', ')}: name migrations as NNNN_description, from 0002 to ${LAST}`,
    )
  refuseMissing(folder, command)
  const folders = foldersOf(folder, dialect).map((one) => ({ ...one, files: filesOf(one.folder) }))
  const missing = names.filter(
    (name) => !folders.some(({ files }) => files.some((file) => nameOf(file) === name)),
  )
  if (missing.length > 0) throw new Failure('input', `no folder has ${missing.join(', ')}`)
  for (const { folder, files } of folders) refuseGap(folder, new Set(files.map(nameOf)), names)
  return folders.flatMap((one) => renumberIn(one.folder, one.files, [...new Set(names)]))
}

/** @throws {Failure} if a number would become free although later migrations keep theirs. */
function refuseGap(folder: string, there: ReadonlySet<string>, names: readonly string[]): void {
  const others = [...there].filter((name) => isByHand(name) && !names.includes(name))
  const numbers = others.map(numberOf)
  for (const name of names) {
    const behind = others.filter((other) => numberOf(other) > numberOf(name))
    if (!there.has(name) || behind.length === 0 || numbers.includes(numberOf(name))) continue
    throw new Failure(
      'input',
      `nothing is renamed: no other migration in ${folder} has the number of ${name}, and numbers have no gaps: also name the migrations after it (${namesText(behind)})`,
    )
  }
}

function renumberIn(
  folder: string,
  files: readonly string[],
  names: readonly string[],
): readonly Renumbered[] {
  const there = new Set(files.map(nameOf))
  const moved = names.filter((name) => there.has(name))
  const others = [...there].filter((name) => isByHand(name) && !moved.includes(name))
  const next = Math.max(1, ...others.map(numberOf)) + 1
  const plan = moved
    .map((from, index) => ({ from, to: `${String(next + index).padStart(4, '0')}_${from.slice(5)}` }))
    .filter(({ from, to }) => from !== to)
  if (next + moved.length - 1 > LAST) throw new Failure('input', `${LAST} is the last possible number`)
  // Two migrations may have the same description, so files are renamed via unused names to avoid overwriting.
  const steps = files.flatMap((file) => {
    const found = plan.find(({ from }) => from === nameOf(file))
    return found === undefined ? [] : [{ file, to: `${found.to}${file.slice(found.from.length)}` }]
  })
  rename(
    folder,
    steps.map(({ file }) => [file, `${file}.renumbered`]),
  )
  rename(
    folder,
    steps.map(({ file, to }) => [`${file}.renumbered`, to]),
  )
  return plan.map(({ from, to }) => {
    const overtaken = others.filter((other) => numberOf(other) > numberOf(from))
    return { folder, from, to, overtaken: overtaken.sort() }
  })
}

function rename(folder: string, pairs: readonly (readonly [from: string, to: string])[]): void {
  for (const [from, to] of pairs)
    try {
      renameSync(join(folder, from), join(folder, to))
    } catch (error) {
      throw new Failure('output', `${join(folder, from)} cannot be renamed: ${reasonOf(error)}`, {
        cause: error,
      })
    }
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((file) => FILE.test(file))
  } catch (error) {
    throw new Failure('input', `${folder} cannot be read: ${readingReasonOf(error)}`, { cause: error })
  }
}

const nameOf = (file: string): string => FILE.exec(file)?.[1] ?? file
