import type { Migrator, NextStep, VersionedSchema, VersionStatus } from '../../lib/migrations/index.js'
import type { Verb } from '../verb/verb.js'
import type { DatabaseRun } from './database-run.js'
import { namesText } from './lines/names-text.js'

/** The other schemas of a database that contain migrations, one of which may be intended. */
interface OtherSchemas {
  /** The schema of the run. */
  readonly here: string
  /** True if it has a migrations table and was therefore used before. */
  readonly isKnown: boolean
  readonly schemas: readonly VersionedSchema[]
  /** The schemas that contain migrations of these files. */
  readonly same: readonly VersionedSchema[]
}

async function otherSchemas(migrator: Migrator): Promise<OtherSchemas> {
  const here = migrator.database?.schema ?? ''
  const all: readonly VersionedSchema[] = await migrator.versionedSchemas().catch(() => [])
  const schemas = all.filter(({ name }) => name !== here)
  const isKnown = schemas.length < all.length
  return { here, isKnown, schemas, same: schemas.filter(({ same }) => same.length > 0) }
}

/** Another schema that may be intended, and the command that shows its state. */
export interface Elsewhere {
  readonly here: string
  readonly next: NextStep
}

/**
 * Prints a note if another schema of the database contains migrations and this one contains none, because it
 * may be the wrong one.
 * @returns the other schema; undefined if there is none, or if a flag names this one.
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
 * Requests a confirmation before migrations that another schema contains are applied to a schema without any,
 * because it may be the wrong one.
 * @param isConfirmed - true if the note is only printed.
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
  const text = `the schema ${here} contains no applied migration, but the schema ${meant.name} contains ${namesText(meant.same)} of these files`
  if (isConfirmed) return verb.note([text])
  await run.confirm(
    `${text}. Continuing would apply them a second time, in ${here}. If you mean ${meant.name}, run ${run.command('migrate up', { schema: meant.name })}.`,
    'nothing is applied',
  )
}

const namesOf = (schemas: readonly VersionedSchema[]): string => schemas.map(({ name }) => name).join(', ')
