import { existsSync } from 'node:fs'
import type { DiffResult, Dialect } from '../../lib/migrations/index.js'
import type { SchemaChanges, SchemaVersion } from '../../lib/persistence/index.js'
import { Failure } from '../errors/failure.js'
import { fromEntities } from '../loading/entities.js'
import { connectionString } from './connection-string.js'
import type { Migrator } from '../../lib/migrations/index.js'
import { foldersOf, type NextFiles, type NextVersion, writeNextFiles } from './next-files.js'

/** How a command compares. */
export interface ComparisonFlags {
  readonly entities: string
  readonly files: string
  readonly scratch?: string | undefined
  readonly live: boolean
  readonly contract: boolean
}

/** The versions that a comparison asks for, for the engine of the connection string. */
export interface SchemaVersions {
  readonly dialect: Dialect
  readonly versions: readonly NextVersion[]
  /** What the contract is for. */
  readonly left: readonly string[]
  /** What no file is written for. */
  readonly byHand: readonly string[]
  readonly leftovers: readonly string[]
}

/** @throws {Failure} when the contract is asked for and expanding changes are missing. */
export async function schemaVersions(
  name: string,
  migrator: Migrator,
  flags: ComparisonFlags,
): Promise<SchemaVersions> {
  const { dialect, changes, leftovers } = await schemaChanges(migrator, flags)
  const { left, byHand } = changes
  const made = flags.contract ? contractOf(changes) : changes.expand
  return { dialect, versions: made.map((one) => versionOf(name, one, made.length)), left, byHand, leftovers }
}

/**
 * Writes the expanding versions of a comparison, and notes about what is left.
 * @throws {Failure} when there are none, or the connection string is of another engine than `dialect`.
 */
export async function newVersions(
  name: string,
  migrator: Migrator,
  flags: Omit<ComparisonFlags, 'live' | 'contract'> & { readonly dialect?: string | undefined },
): Promise<{ readonly written: NextFiles; readonly notes: readonly string[] }> {
  const compared = { ...flags, live: false, contract: false }
  const { dialect, versions, left, byHand, leftovers } = await schemaVersions(name, migrator, compared)
  if (flags.dialect !== undefined && flags.dialect !== dialect)
    throw new Failure(
      'input',
      `--dialect ${flags.dialect} and a connection string of ${dialect}: leave one of them out, since files are written for the engine of the connection string`,
    )
  const rest = [
    ...left.map((line) => `left for ashlar migrate diff --contract: ${line}`),
    ...byHand.map((line) => `to do by hand: ${line}`),
    ...leftovers.map((database) => leftoverText(database)),
  ]
  if (versions.length === 0)
    throw new Failure(
      'input',
      ['nothing is written: the files make every table and column of the entities', ...rest].join('; '),
    )
  const others = foldersOf(flags.files, undefined).filter((one) => one.dialect !== dialect)
  const elsewhere = others
    .filter(({ folder }) => existsSync(folder))
    .map((one) => `nothing is written for ${one.dialect}: run this again with a connection string of it`)
  return { written: writeNextFiles(flags.files, dialect, versions), notes: [...rest, ...elsewhere] }
}

export const leftoverText = (database: string): string =>
  `the database ${database} is of another comparison: drop it, unless that one runs now`

/** What turns the schema of the files, or the live one, into the entities'. */
export async function schemaChanges(
  migrator: Migrator,
  { entities, live, scratch }: Pick<ComparisonFlags, 'entities' | 'live' | 'scratch'>,
): Promise<DiffResult<SchemaChanges>> {
  const { schemaModel } = await import('../../lib/persistence/index.js')
  const model = await fromEntities(entities, schemaModel)
  return migrator.diff(model, {
    live,
    ...(scratch === undefined ? {} : { scratch: await connectionString(scratch) }),
  })
}

function contractOf({ expand, contract }: SchemaChanges): readonly SchemaVersion[] {
  if (expand.length === 0) return contract
  throw new Failure(
    'differs',
    `nothing is written: expanding changes come first (${expand.map(({ what }) => what).join(', ')}): run ashlar migrate diff without --contract, deploy, and contract when no older image runs`,
  )
}

const versionOf = (name: string, { what, up, down }: SchemaVersion, of: number): NextVersion => ({
  description: of === 1 ? name : `${name}_${what}`,
  sqlFor: () => ({ up, down }),
})
