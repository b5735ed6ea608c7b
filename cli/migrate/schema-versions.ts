import { existsSync } from 'node:fs'
import type { DiffResult, Dialect } from '../../lib/migrations/index.js'
import type { SchemaChanges, SchemaVersion } from '../../lib/persistence/index.js'
import { Failure } from '../errors/failure.js'
import { fromEntities } from '../loading/entities.js'
import { connectionString } from './connection-string.js'
import type { Migrator } from '../../lib/migrations/index.js'
import type { NextVersion } from './next-files.js'

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

/** The folder of the files; empty before there is one. */
export const filesIn = (folder: string): string | Readonly<Record<string, string>> =>
  existsSync(folder) ? folder : {}

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
