import { existsSync } from 'node:fs'
import type {
  CommandLine,
  DiffResult,
  Dialect,
  Migrator,
  TableDifference,
  VersionStatus,
} from '../../lib/migrations/index.js'
import type { SchemaChanges, SchemaVersion, UnfilledColumn } from '../../lib/persistence/index.js'
import { fillText, tableDifferenceText } from '../../lib/text/table-difference.js'
import { Failure } from '../errors/failure.js'
import { moduleFailure } from '../errors/problems-text.js'
import { fromEntities, noEntities } from '../loading/entities.js'
import { distributeOption } from '../loading/project-option.js'
import { connectionString } from './connection-string.js'
import { namesText } from './lines/names-text.js'
import {
  foldersOf,
  hasVersions,
  isBackfill,
  isByHand,
  type NextFiles,
  type NextVersion,
  removeFiles,
  writeNextFiles,
} from './next-files.js'

/** The flags of a comparison. */
export interface ComparisonFlags {
  readonly entities: string
  readonly files: string
  readonly scratch?: string | undefined
  readonly live: boolean
  readonly contract: boolean
}

/** The migrations that result from a comparison, for the connection string's engine. */
export interface SchemaVersions {
  readonly dialect: Dialect
  readonly versions: readonly NextVersion[]
  /** The differences that the contract phase removes. */
  readonly left: readonly TableDifference[]
  /** Columns that must be filled before the written contract migration. */
  readonly fill: readonly UnfilledColumn[]
  /** The differences that must be changed manually. */
  readonly byHand: readonly TableDifference[]
  readonly leftovers: readonly string[]
  /** The differences between the live database and its files. If there are any, no migrations are written. */
  readonly drift: readonly TableDifference[]
  /** The statements that revert each change of the drift. */
  readonly bringsBack: readonly string[]
  /** True if the files create the tables that the migrations change. */
  readonly isOfFiles: boolean
}

/** The result of a comparison as lines and as values, for `--json`. */
export interface ShownChanges extends Readonly<
  Record<'fill' | 'left' | 'byHand' | 'leftovers' | 'drift' | 'bringsBack', readonly string[]>
> {
  readonly details: Pick<SchemaVersions, 'fill' | 'left' | 'byHand' | 'drift'>
}

export function shownChanges({
  fill,
  left,
  byHand,
  leftovers,
  drift,
  bringsBack,
}: SchemaVersions): ShownChanges {
  return {
    fill: fill.map((one) => `${one.table}.${one.column}: ${fillText(one.fill)}`),
    left: left.map((one) => tableDifferenceText(one, true)),
    byHand: byHand.map((one) => tableDifferenceText(one, true)),
    leftovers,
    drift: drift.map(({ text }) => text),
    bringsBack,
    details: { fill, left, byHand, drift },
  }
}

/**
 * Returns the migrations that bring the tables in line with the entities.
 * @throws {Failure} if the contract is requested while expanding changes are missing.
 */
export async function schemaVersions(
  name: string,
  migrator: Migrator,
  flags: ComparisonFlags,
  command: CommandLine,
): Promise<SchemaVersions> {
  await (flags.live ? refusePending(migrator, command) : refuseOtherFolder(migrator, flags.files))
  if (flags.contract && !flags.live) await refuseUndeployed(migrator, flags.files, command)
  const { dialect, changes, drift, leftovers } = await schemaChanges(migrator, flags)
  const isOfFiles = !flags.live || drift !== undefined
  if (drift !== undefined && drift.differences.length > 0)
    return { ...driftOf(drift), dialect, leftovers, isOfFiles }
  const { left, byHand } = changes
  const made = flags.contract ? contractOf(changes, flags.live, command) : changes.expand
  const versions = made.map((one) => versionOf(name, one, made.length))
  const fill = flags.contract ? changes.fill : []
  return { dialect, versions, fill, left, byHand, leftovers, drift: [], bringsBack: [], isOfFiles }
}

/**
 * Returns a result without migrations. Other databases do not have the drift, so that a migration for it
 * would fail there.
 */
const driftOf = ({ differences, expand, contract, fill, byHand }: SchemaChanges) => ({
  versions: [],
  fill,
  left: [],
  byHand,
  drift: differences,
  bringsBack: [...expand, ...contract].map(({ statements }) =>
    statements.map((one) => `${one};`).join('\n\n'),
  ),
})

/** Compares and writes the migrations, for `diff` and `new --entities`. Throws the errors of both steps. */
export async function writtenVersions(
  name: string,
  migrator: Migrator,
  flags: ComparisonFlags & WritingFlags,
  command: CommandLine,
) {
  const compared = await schemaVersions(name, migrator, flags, command)
  const { notes, ...written } = await writeVersions(migrator, compared, flags)
  return { compared, notes, written }
}

interface WritingFlags extends Pick<ComparisonFlags, 'files' | 'scratch'> {
  readonly dialect?: string | undefined
}

/**
 * Writes the migrations of a comparison for the connection string's engine, and reports which other engines
 * lack them. They are tested in a scratch database.
 * @throws {Failure} if the connection string is for an engine other than `dialect`, if a folder cannot be
 *   written, or if a migration fails in the scratch database. Then nothing is written.
 */
async function writeVersions(
  migrator: Migrator,
  { dialect, versions, isOfFiles }: SchemaVersions,
  flags: WritingFlags,
): Promise<NextFiles & { readonly notes: readonly string[] }> {
  if (flags.dialect !== undefined && flags.dialect !== dialect)
    throw new Failure(
      'input',
      `--dialect ${flags.dialect} and a ${dialect} connection string: leave one of them out, because files are written for the connection string's engine`,
    )
  if (versions.length === 0) return { names: [], files: [], notes: [] }
  const others = foldersOf(flags.files, undefined).filter((one) => one.dialect !== dialect)
  const elsewhere = others
    .filter(({ folder }) => existsSync(folder))
    .map((one) => `nothing is written for ${one.dialect}: run this again with its connection string`)
  const written = writeNextFiles(flags.files, dialect, versions)
  if (isOfFiles) await tryWritten(migrator, written, flags.scratch)
  return { ...written, notes: elsewhere }
}

/**
 * Tests the written files.
 * @throws {Failure} if one fails. Then all of them are removed.
 */
async function tryWritten(
  migrator: Migrator,
  { files, names }: NextFiles,
  scratch: string | undefined,
): Promise<void> {
  const tried = migrator.tryUps(scratch && (await connectionString(scratch, 'ASHLAR_SCRATCH_URL')))
  const { findings } = await tried.catch((error: unknown) => {
    removeFiles(files)
    throw error
  })
  const own = findings.filter(({ file }) => names.some((name) => file.startsWith(`${name}.`)))
  if (own.length === 0) return
  removeFiles(files)
  const found = own.map(({ file, line, text }) => `${file}:${line} ${text}`)
  throw new Failure('differs', `nothing is written: ${found.join('; ')}`, { facts: { findings: own } })
}

/**
 * Rejects a folder without migrations, because the comparison would report the whole schema as new.
 * @throws {Failure} if the database has migrations but the folder has none.
 */
async function refuseOtherFolder(migrator: Migrator, folder: string): Promise<void> {
  const { database } = migrator
  if (database === undefined || hasVersions(folder, database.dialect)) return
  const versions = await knownVersions(migrator)
  const others = versions.filter(({ state, name }) => state !== 'pending' && isByHand(name))
  if (others.length === 0) return
  throw new Failure(
    'input',
    `${folder} has no migration for ${database.dialect}, but the database ${database.name} has ${namesText(others.map(({ name }) => name))}: name the folder of their files with --files`,
  )
}

/**
 * Rejects pending migrations. The live database lacks their changes, which would be written a second time.
 * @throws {Failure} if a hand-written migration is not applied.
 */
async function refusePending(migrator: Migrator, command: CommandLine): Promise<void> {
  const versions = await knownVersions(migrator)
  const pending = versions.filter(({ isMissing, name }) => isMissing && isByHand(name))
  const [first, last] = [pending[0], pending.at(-1)]
  if (first === undefined || last === undefined) return
  const isBegun = versions.some(({ name, state }) => isByHand(name) && state !== 'pending')
  const record = isBegun
    ? command('migrate resolve', { applied: first.version })
    : command('migrate baseline', { to: last.version })
  throw new Failure(
    'differs',
    `nothing is written: ${namesText(pending.map(({ name }) => name))} ${pending.length === 1 ? 'is' : 'are'} pending, and would be written a second time: run ${command('migrate up')} first; if the database already has these changes, record that with ${record}`,
  )
}

/**
 * Rejects a contract while a migration before it is pending: one `up` would apply both, while processes with
 * the older code still run. A backfill may be pending. A database without applied migrations is only the
 * server of the scratch databases.
 * @throws {Failure} if a hand-written migration is pending in a database that has others.
 */
async function refuseUndeployed(migrator: Migrator, folder: string, command: CommandLine): Promise<void> {
  const versions = (await knownVersions(migrator)).filter(({ name }) => isByHand(name))
  const pending = versions.filter(({ isMissing, name }) => isMissing && !isBackfill(folder, name))
  if (pending.length === 0 || versions.every(({ state }) => state === 'pending')) return
  throw new Failure(
    'differs',
    `nothing is written: ${namesText(pending.map(({ name }) => name))} ${pending.length === 1 ? 'is' : 'are'} pending, and one ${command('migrate up')} would apply the contract too: deploy what is pending, and run this when no process with the older code runs`,
  )
}

const knownVersions = (migrator: Migrator): Promise<readonly VersionStatus[]> =>
  migrator.status().catch((error: unknown) => {
    // Before adoption, the tables of another tool are compared as well. Without the permission to read
    // migrations, none is known.
    if (['foreign', 'denied'].includes((error as { readonly stop?: string }).stop ?? '')) return []
    throw error
  })

/**
 * Returns the changes that turn the schema of the files, or the live schema, into the schema of the entities.
 */
export async function schemaChanges(
  migrator: Migrator,
  { entities, live, scratch }: Pick<ComparisonFlags, 'entities' | 'live' | 'scratch'>,
): Promise<DiffResult<SchemaChanges>> {
  const { schemaComparison, schemaModel, tableMigrations } = await import('../../lib/persistence/index.js')
  const model = await fromEntities(entities, (exports) => {
    // Existing tables are created by no file and are not a reason to fail.
    if (tableMigrations(exports).length === 0 && schemaComparison(exports).resources.length === 0)
      throw noEntities(entities)
    return schemaModel(exports, { distribute: distributeOption() })
  })
  const address =
    scratch === undefined ? {} : { scratch: await connectionString(scratch, 'ASHLAR_SCRATCH_URL') }
  return migrator.diff(model, { live, ...address }).catch((error: unknown) => {
    if (!(error instanceof Error) || (error as { readonly subject?: string }).subject !== 'entities')
      throw error
    throw moduleFailure(entities, error)
  })
}

function contractOf(
  { expand, contract, vectors }: SchemaChanges,
  live: boolean,
  command: CommandLine,
): readonly SchemaVersion[] {
  if (vectors.length > 0)
    throw new Failure(
      'differs',
      `nothing is written: a search vector may read a column that the contract drops (${vectors.map((one) => tableDifferenceText(one, true, command)).join('; ')}); deploy that first, and run this with --contract when no process with the older code runs`,
    )
  if (expand.length === 0) return contract
  throw new Failure(
    'differs',
    `nothing is written: expanding changes come first (${expand.map(({ what }) => what).join(', ')}): run ${command('migrate diff', live ? { live: true } : {})} without --contract, deploy, and run it with --contract when no process with the older code runs`,
  )
}

const versionOf = (name: string, { what, up, down, isSearch }: SchemaVersion, of: number): NextVersion => ({
  description: isSearch === true ? what : of === 1 ? name : `${name}_${what}`,
  ...(isSearch === true && { isSearch }),
  sqlFor: () => ({ up, down }),
})
