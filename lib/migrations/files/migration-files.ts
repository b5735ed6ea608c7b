import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DeclarationError } from '../../errors.js'
import { packageFile } from '../../files/package-file.js'
import type { FileProblem } from '../messages/file-problems.js'
import { declarationError, refused } from '../messages/problem.js'
import { type Dialect, DIALECTS } from './dialect-name.js'
import type { EngineFiles } from './engine-files.js'
import { type LoadedBackfill, loadBackfill, MODULE_FILE } from './module-file.js'
import { RowBackfill, sqlOfBackfill } from './row-backfill.js'

/**
 * The location of a module's files: a folder, or for a bundle an object that maps file names to SQL or to
 * results of `backfill`. Files for both engines can be in subfolders `postgres/` and `mysql/`.
 */
export type FileSource = string | URL | Readonly<Record<string, string | RowBackfill>>

/** A version, such as the files `0002_widgets.up.sql` and `0002_widgets.down.sql`. */
export interface Migration {
  readonly version: number
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  /** The up file's name, such as `0002_widgets.up.sql`. */
  readonly file: string
  /** The up migration as SQL, even if a function computes its values. */
  readonly up: string
  /** Computes the values of a backfill's rows. */
  readonly fill: RowBackfill | undefined
  /** The SHA-256 of `up`, independent of line endings. */
  readonly checksum: string
  /** The down migration. Undefined if the file is missing. */
  readonly down: string | undefined
}

/**
 * Returns a module's versions in order, including Ashlar's own.
 *
 * @throws {DeclarationError} with every misnamed, missing, duplicate or misplaced file.
 */
export async function readMigrations(
  source: FileSource,
  { dialect, hasSearchFiles, syntax }: EngineFiles,
): Promise<readonly Migration[]> {
  const [own, module] = await Promise.all([readFramework(dialect), readSource(source, dialect)])
  const problems: FileProblem[] = []
  const framework = paired(own, problems, syntax.nameQuote)
  const theirs = paired(module, problems, syntax.nameQuote).filter(
    ({ name }) => hasSearchFiles || !SEARCH.test(name),
  )
  const all = new Map(framework.map((migration) => [migration.version, migration]))
  for (const migration of theirs) {
    const ours = all.get(migration.version)
    if (ours === undefined && isOfFramework(migration.version) && framework.length > 0)
      problems.push({ kind: 'reserved', version: migration.name })
    if (ours !== undefined && (ours.name !== migration.name || ours.checksum !== migration.checksum))
      problems.push({ kind: 'reserved', version: migration.name, framework: ours.name })
    all.set(migration.version, ours ?? migration)
  }
  const migrations = [...all.values()].sort((a, b) => a.version - b.version)
  problems.push(...gapsIn(migrations))
  if (problems.length > 0) throw declarationError(subjectOf(source, dialect), problems)
  return migrations
}

/** Returns the subject of an error about these files, such as `migrations in /srv/shop/migrations/mysql`. */
export function subjectOf(source: FileSource, dialect: Dialect): string {
  if (typeof source !== 'string' && !(source instanceof URL)) return 'migrations'
  const folder = folderOf(source)
  const own = join(folder, dialect)
  return `migrations in ${existsSync(own) ? own : folder}`
}

/** The version that creates Ashlar's tables. */
export const FRAMEWORK = 1

/** The number range of upgrades of Ashlar's tables. */
export const UPGRADES = { first: 8001, last: 8999 } as const

/**
 * The number ranges of hand-written files, upgrades, and generated files. Numbers in a range have no gaps.
 */
export const BANDS = [{ first: 1, last: 7999 }, UPGRADES, { first: 9001, last: 9999 }] as const

export const isUpgrade = (version: number): boolean => version >= UPGRADES.first && version <= UPGRADES.last

export const isOfFramework = (version: number): boolean => version === FRAMEWORK || isUpgrade(version)

/** Returns the error for a version number that the files do not have. */
export const unknownVersion = (number: number, migrations: readonly Migration[]): RangeError =>
  refused(RangeError, { kind: 'unknownVersion', number, known: migrations.map(({ version }) => version) })

export const checksumOf = (sql: string): string => createHash('sha256').update(sql).digest('hex')

const FILE_NAME = /^(\d+)_([A-Za-z0-9_-]+)\.(?:(up|down)\.sql|(up)\.m?[jt]s)$/
/** Matches files that are generated for PostgreSQL only. MySQL has its own search. */
const SEARCH = /^9\d{3}_.*_search_(vector|gin)$/

type Files = ReadonlyMap<string, string | LoadedBackfill>

/**
 * Reads the files in Ashlar's package. An application's bundle does not contain them, and then the module's
 * own copy of 0001 is used.
 */
async function readFramework(dialect: Dialect): Promise<Files> {
  try {
    return await readFolder(fileURLToPath(packageFile(`migrations/${dialect}/`)))
  } catch {
    return new Map()
  }
}

async function readSource(source: FileSource, dialect: Dialect): Promise<Files> {
  if (typeof source !== 'string' && !(source instanceof URL)) return ofDialect(source, dialect)
  const folder = folderOf(source)
  try {
    const inside = await readdir(folder)
    const others = DIALECTS.filter((one) => inside.includes(one))
    const own = join(folder, dialect)
    if (others.length > 0 && !inside.includes(dialect))
      throw declarationError('migrations', [{ kind: 'otherEngines', folder, engines: others, dialect, own }])
    return await readFolder(others.length > 0 ? own : folder)
  } catch (error) {
    if (error instanceof DeclarationError) throw error
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw declarationError('migrations', [{ kind: 'noFolder', folder, code }])
  }
}

const folderOf = (source: string | URL): string =>
  resolve(typeof source === 'string' ? source : fileURLToPath(source))

async function readFolder(folder: string): Promise<Files> {
  const names = (await readdir(folder))
    .filter((name) => name.endsWith('.sql') || MODULE_FILE.test(name))
    .sort()
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, string | LoadedBackfill]> => {
        const path = join(folder, name)
        const bytes = await readFile(path).catch(({ code }: NodeJS.ErrnoException) => {
          throw declarationError('migrations', [{ kind: 'unreadable', file: name, code: code ?? 'unknown' }])
        })
        const text = decoded(bytes)
        if (text === undefined) throw declarationError('migrations', [{ kind: 'notUtf8', file: name }])
        return [name, MODULE_FILE.test(name) ? await loadBackfill(resolve(path), name, text) : text]
      }),
    ),
  )
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function ofDialect(files: Readonly<Record<string, string | RowBackfill>>, dialect: Dialect): Files {
  const entries = Object.entries(files).map(([name, file]): [string, string | LoadedBackfill] => [
    name,
    // A bundler reformats the code of functions, which must not change the checksum.
    file instanceof RowBackfill ? { backfill: file, source: '(in a bundle)' } : file,
  ])
  const areSorted = entries.some(([path]) => DIALECTS.some((one) => path.startsWith(`${one}/`)))
  if (!areSorted) return new Map(entries)
  const prefix = `${dialect}/`
  const ours = entries.filter(([path]) => path.startsWith(prefix))
  if (ours.length === 0) throw declarationError('migrations', [{ kind: 'noFileFor', prefix }])
  return new Map(ours.map(([path, sql]) => [path.slice(prefix.length), sql]))
}

/** Pairs up and down files, and reports misplaced ones. */
function paired(files: Files, problems: FileProblem[], nameQuote: string): readonly Migration[] {
  const found = new Map<
    number,
    { name: string; up?: Pick<Migration, 'file' | 'up' | 'fill'>; down?: string }
  >()
  for (const [file, content] of files) {
    const [, digits = '', description = '', direction = content instanceof Object ? 'up' : undefined] =
      FILE_NAME.exec(file) ?? []
    const version = Number(digits)
    if (digits === '' || direction === undefined || !isNumber(digits)) {
      const isName = digits !== '' && direction !== undefined
      problems.push(
        isName
          ? { kind: 'badNumber', file, hasFourDigits: digits.length === 4 }
          : { kind: 'badlyNamed', file },
      )
      continue
    }
    const fill = typeof content === 'string' ? undefined : content.backfill
    const text = normalised(typeof content === 'string' ? content : content.source)
    if (text.includes('\0')) problems.push({ kind: 'hasNul', file })
    const name = `${digits}_${description}`
    const pair = found.get(version) ?? { name }
    if (pair.name !== name) {
      const versions = [pair.name, name] as const
      // The number is also reported for the other direction.
      const isKnown = problems.some((one) => one.kind === 'duplicateNumber' && one.versions[1] === name)
      if (!isKnown)
        problems.push({ kind: 'duplicateNumber', versions, behind: handWrittenBehind(files, version) })
    } else if (direction === 'down') pair.down = text
    else if (pair.up !== undefined) problems.push({ kind: 'twoUpMigrations', file, other: pair.up.file })
    else pair.up = { file, fill, up: fill === undefined ? text : sqlOfBackfill(fill, text, nameQuote) }
    found.set(version, pair)
  }
  return [...found].flatMap(([version, { name, up, down }]) => {
    if (up !== undefined) return [{ version, name, ...up, checksum: checksumOf(up.up), down }]
    problems.push({ kind: 'noUpMigration', version: name })
    return []
  })
}

function handWrittenBehind(files: Files, version: number): readonly string[] {
  const names = [...files.keys()].flatMap((file) => {
    const [, digits = '', description = ''] = FILE_NAME.exec(file) ?? []
    const isBehind = Number(digits) > version && Number(digits) <= BANDS[0].last
    return isBehind ? [`${digits}_${description}`] : []
  })
  return [...new Set(names)].sort()
}

function isNumber(digits: string): boolean {
  const version = Number(digits)
  return digits.length === 4 && BANDS.some(({ first, last }) => version >= first && version <= last)
}

const normalised = (text: string): string => text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')

function gapsIn(migrations: readonly Migration[]): readonly FileProblem[] {
  return BANDS.flatMap(({ first, last }): readonly FileProblem[] => {
    const versions = migrations.map(({ version }) => version).filter((one) => one >= first && one <= last)
    const gap = versions.findIndex((version, index) => version !== first + index)
    if (gap < 0) return []
    const [missing, before] = [first + gap, versions[gap] ?? 0]
    return [{ kind: 'gap', missing, before, isByHand: first === FRAMEWORK }]
  })
}
