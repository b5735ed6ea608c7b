import type { DatabaseAddress, MigrateOptions, Migrator, VersionStatus } from '../../lib/migrations/index.js'
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
    const here = migrator.database?.schema
    if (here === undefined || versions.some(({ state }) => state !== 'pending')) return undefined
    const there: readonly string[] = await migrator.versionedSchemas().catch(() => [])
    const [first] = there
    if (first === undefined || there.includes(here)) return undefined
    this.note([
      `no version is applied in the schema ${here}, and ${there.join(', ')} has versions: --module or --schema names another schema`,
    ])
    if (this.#flags?.module !== undefined || this.#flags?.schema !== undefined) return undefined
    const { nextLine } = await import('./lines/next-line.js')
    return nextLine(['status', '--schema', shellWord(first)], `unless ${here} is meant`)
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
    const command = `ashlar migrate renumber ${name === first ? second : first}`
    return super.catch(
      error instanceof Failure && name !== undefined
        ? new Failure(
            error.exit,
            `${error.message.replace(`ashlar migrate renumber ${first} or ${second}`, command)}; this database has applied ${name}: ${command}`,
            {
              cause: error.cause,
            },
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
const LONGEST_QUESTION = 2_000
