import type { Migrator, NextStep, VersionedSchema, VersionStatus } from '../../lib/migrations/index.js'
import type { Verb } from '../verb/verb.js'
import type { DatabaseRun } from './database-run.js'
import { namesText } from './lines/names-text.js'

/** The other schemas of a database that have versions, of which one may be meant. */
interface OtherSchemas {
  /** The schema of the run. */
  readonly here: string
  /** True if it has a version table: it was used before. */
  readonly isKnown: boolean
  readonly schemas: readonly VersionedSchema[]
  /** Those that have versions of these files. */
  readonly same: readonly VersionedSchema[]
}

async function otherSchemas(migrator: Migrator): Promise<OtherSchemas> {
  const here = migrator.database?.schema ?? ''
  const all: readonly VersionedSchema[] = await migrator.versionedSchemas().catch(() => [])
  const schemas = all.filter(({ name }) => name !== here)
  const isKnown = schemas.length < all.length
  return { here, isKnown, schemas, same: schemas.filter(({ same }) => same.length > 0) }
}

/** Another schema that may be meant, and what to look at then. */
export interface Elsewhere {
  readonly here: string
  readonly next: NextStep
}

/**
 * Says when another schema of the database has versions and this one has none: it may be the wrong one.
 * @returns the other schema; undefined where there is none, and where a flag names this one.
 */
export async function noteElsewhere(
  verb: Pick<Verb, 'note'>,
  run: DatabaseRun,
  versions: readonly VersionStatus[],
): Promise<Elsewhere | undefined> {
  const { schemas, same, here, isKnown } = await otherSchemas(await run.connect())
  const isSchemaNamed = run.flags.module !== undefined || run.flags.schema !== undefined
  const isHere = versions.some(({ state }) => state !== 'pending')
  if (isHere && !isSchemaNamed && same.length > 0)
    verb.note([`${namesOf(same)} has migrations of these files as well as ${here}: --schema selects one`])
  if (isHere || isKnown || schemas.length === 0) return undefined
  verb.note([
    `no migration is applied in the schema ${here}, but ${namesOf(schemas)} has migrations: --module or --schema names another schema`,
  ])
  const [meant] = same.length > 0 || isSchemaNamed ? same : schemas
  return meant && { here, next: { command: 'migrate status', options: { schema: meant.name } } }
}

/**
 * Asks before versions that another schema has are applied in one that has none: it may be the wrong one.
 * @param isConfirmed - then it is only said.
 */
export async function confirmSchema(
  verb: Pick<Verb, 'note'>,
  run: DatabaseRun,
  versions: readonly VersionStatus[],
  isConfirmed: boolean,
): Promise<void> {
  if (versions.length === 0 || versions.some(({ state }) => state !== 'pending')) return
  const { same, here, isKnown } = await otherSchemas(await run.connect())
  const [meant] = same
  if (meant === undefined || isKnown) return
  const text = `no migration is applied in the schema ${here}, but ${meant.name} has ${namesText(meant.same)} of these files`
  if (isConfirmed) return verb.note([text])
  await run.confirm(
    `${text}: this would create all of them a second time, in ${here}. If you mean ${meant.name}: ${run.command('migrate up', { schema: meant.name })}.`,
    'nothing is applied',
  )
}

const namesOf = (schemas: readonly VersionedSchema[]): string => schemas.map(({ name }) => name).join(', ')
