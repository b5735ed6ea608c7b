import type {
  DatabaseAddress,
  MigrateOptions,
  Migrator,
  VersionedSchema,
  VersionStatus,
} from '../../lib/migrations/index.js'
import { shellWord } from '../../lib/text/shell-word.js'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'
import { databaseText, type Heading } from './headings.js'
import { MigrateVerb } from './migrate-verb.js'
import type { DatabaseFlags } from './migrator-of.js'

/** What `--json` prints of the database; missing where the connection string is no URL. */
export interface OnDatabase {
  readonly database?: DatabaseAddress
}

/** A command that connects to a database, and says once to which one. */
export abstract class DatabaseVerb extends MigrateVerb {
  #database: DatabaseAddress | undefined
  #flags: DatabaseFlags | undefined

  /** The first line on stderr. A command that works elsewhere than in the database says where. */
  protected heading: Heading = databaseText

  /** @throws {Failure} for flags that cannot be used. */
  protected async connected(
    flags: DatabaseFlags,
    running: Pick<MigrateOptions, 'onProgress' | 'signal'> = {},
  ): Promise<Migrator> {
    this.#flags = flags
    const { migratorOf } = await import('./migrator-of.js')
    const migrator = await migratorOf(flags, running)
    const { database } = migrator
    if (database !== undefined && this.#database === undefined)
      process.stderr.write(`${terminalLine(this.heading(database))}\n`)
    this.#database = database
    return migrator
  }

  /**
   * Asks for a confirmation, with the name of the database.
   * @throws {Failure} with what `otherwise` says when the person says no; without a terminal.
   */
  protected async confirm(question: string, otherwise: string): Promise<void> {
    const { confirmed } = await import('../output/confirmed.js')
    const database = this.#database === undefined ? '' : `${databaseText(this.#database)}: `
    if (!(await confirmed(terminalLine(database + question, LONGEST_QUESTION))))
      throw new Failure('differs', otherwise)
  }

  /** Asks before a rollback that loses something. @param isConfirmed - then it is only said. */
  protected async confirmLoss(question: string, isConfirmed: boolean): Promise<void> {
    if (isConfirmed) this.note([question.replace(/\.$/, '')])
    else await this.confirm(question, 'nothing is rolled back')
  }

  /** The result with the database that it is of. */
  protected onDatabase<T extends object>(result: T): T & OnDatabase {
    return { ...result, ...(this.#database !== undefined && { database: this.#database }) }
  }

  /**
   * Says when another schema of the database has versions and this one has none: it may be the wrong one.
   * @returns the line to end with then, which names the other schema; undefined otherwise, and where a flag names this one.
   */
  protected async noteElsewhere(
    migrator: Migrator,
    versions: readonly VersionStatus[],
  ): Promise<string | undefined> {
    const { schemas, same, here, isKnown } = await this.#elsewhere(migrator)
    const isHere = versions.some(({ state }) => state !== 'pending')
    if (isHere && !this.#isPlaceNamed && same.length > 0)
      this.note([
        `${namesOf(same)} has versions of these files as well as ${here}: --schema names the one that is meant`,
      ])
    if (isHere || isKnown || schemas.length === 0) return undefined
    this.note([
      `no version is applied in the schema ${here}, and ${namesOf(schemas)} has versions: --module or --schema names another schema`,
    ])
    const [meant] = same.length > 0 || this.#isPlaceNamed ? same : schemas
    if (meant === undefined) return undefined
    const { nextLine } = await import('./lines/next-line.js')
    return nextLine(['status', '--schema', shellWord(meant.name)], `unless ${here} is meant`)
  }

  /**
   * Asks before versions that another schema has are applied in one that has none: it may be the wrong one.
   * @param isConfirmed - then it is only said.
   */
  protected async confirmPlace(
    migrator: Migrator,
    versions: readonly VersionStatus[],
    isConfirmed: boolean,
  ): Promise<void> {
    if (versions.length === 0 || versions.some(({ state }) => state !== 'pending')) return
    const { same, here, isKnown } = await this.#elsewhere(migrator)
    const [meant] = same
    if (meant === undefined || isKnown) return
    const { namesText } = await import('./lines/names-text.js')
    const text = `no version is applied in the schema ${here}, and ${meant.name} has ${namesText(meant.same)} of these files`
    if (isConfirmed) return this.note([text])
    await this.confirm(
      `${text}: this makes all of them a second time, in ${here}. Where ${meant.name} is meant: ashlar migrate up --schema ${shellWord(meant.name)}.`,
      'nothing is applied',
    )
  }

  /** The other schemas that have versions, and those among them that have versions of these files. */
  async #elsewhere(migrator: Migrator): Promise<{
    readonly here: string
    /** Whether this one has a version table: it was used before. */
    readonly isKnown: boolean
    readonly schemas: readonly VersionedSchema[]
    readonly same: readonly VersionedSchema[]
  }> {
    const here = migrator.database?.schema ?? ''
    const all: readonly VersionedSchema[] = await migrator.versionedSchemas().catch(() => [])
    const schemas = all.filter(({ name }) => name !== here)
    const isKnown = schemas.length < all.length
    return { here, isKnown, schemas, same: schemas.filter(({ same }) => same.length > 0) }
  }

  get #isPlaceNamed(): boolean {
    return this.#flags?.module !== undefined || this.#flags?.schema !== undefined
  }

  /** Says when the folder has no version, because it may be the wrong one. */
  protected async noteEmpty(flags: DatabaseFlags): Promise<void> {
    const { dialect } = this.#database ?? (await this.connected(flags)).database ?? {}
    const { emptyFolder, emptyText } = await import('./next-files.js')
    const empty = dialect && emptyFolder(flags.files, dialect)
    if (empty !== undefined) this.note([emptyText(empty)])
  }

  /** Of two files with one number, says which one the database has. */
  protected override async catch(error: Error): Promise<never> {
    const [, second = '', first = '', digits] =
      (error instanceof Failure ? DOUBLED.exec(error.message) : undefined) ?? []
    const versions = digits === undefined ? [] : await this.#versionsThere()
    const name = versions.find((version) => version.name.startsWith(`${digits ?? ''}_`))?.name
    const listed = LISTED.exec(error.message)?.[1]?.split(', ') ?? []
    const behind = versions.filter((version) => listed.includes(version.name)).map((version) => version.name)
    const command = `ashlar migrate renumber ${name === first ? second : first}`
    const applied = `; this database has applied ${[name, ...behind].join(', ')}`
    return super.catch(
      error instanceof Failure && name !== undefined
        ? new Failure(
            error.exit,
            error.message
              .replace(`ashlar migrate renumber ${first} or ${second}`, command)
              .replace(/(\. Nothing is changed)?$/, `${applied}$1`),
            { cause: error.cause },
          )
        : error,
    )
  }

  /** What the database has, whatever is wrong with the files. */
  async #versionsThere(): Promise<readonly VersionStatus[]> {
    if (this.#flags === undefined) return []
    const { migrate } = await import('../../lib/migrations/index.js')
    const { optionsOf } = await import('./migrator-of.js')
    const options = await optionsOf(this.#flags)
    return (
      await migrate({ ...options, files: {} })
        .status()
        .catch(() => [])
    ).filter(({ state }) => state !== 'pending')
  }

  protected override beforeFailure(): object {
    return this.onDatabase({})
  }
}

const DOUBLED = /(\S+): (\S+) has the number (\d{4}) already/
/** Those behind the number, of which some have to be named as well. */
const LISTED = / of that branch among ((?:\d{4}_[\w-]+(?:, )?)+)/
const namesOf = (schemas: readonly VersionedSchema[]): string => schemas.map(({ name }) => name).join(', ')
const LONGEST_QUESTION = 2_000
