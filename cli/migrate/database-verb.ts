import type { DatabaseAddress, MigrateOptions, Migrator } from '../../lib/migrations/index.js'
import { terminalLine } from '../output/terminal-line.js'
import { Verb } from '../verb/verb.js'
import type { DatabaseFlags } from './migrator-of.js'

/** What `--json` prints of the database; missing where the connection string is no URL. */
export interface OnDatabase {
  readonly database?: DatabaseAddress
}

/** A command that connects to a database, and says once to which one. */
export abstract class DatabaseVerb extends Verb {
  #database: DatabaseAddress | undefined

  /** @throws {Failure} for flags that cannot be used. */
  protected async connected(
    flags: DatabaseFlags,
    running: Pick<MigrateOptions, 'onProgress' | 'signal'> = {},
  ): Promise<Migrator> {
    const { migratorOf } = await import('./migrator-of.js')
    const migrator = await migratorOf(flags, running)
    const { database } = migrator
    if (database !== undefined && this.#database === undefined)
      process.stderr.write(`${terminalLine(databaseText(database))}\n`)
    this.#database = database
    return migrator
  }

  /** The result with the database that it is of. */
  protected onDatabase<T extends object>(result: T): T & OnDatabase {
    return { ...result, ...(this.#database !== undefined && { database: this.#database }) }
  }

  /** Says when the folder has no version, because it may be the wrong one. */
  protected async noteEmpty(flags: DatabaseFlags): Promise<void> {
    const { dialect } = (await this.connected(flags)).database ?? {}
    const { emptyFolder, emptyText } = await import('./next-files.js')
    const empty = dialect && emptyFolder(flags.files, dialect)
    if (empty !== undefined) this.note([emptyText(empty)])
  }

  protected override beforeFailure(): object {
    return this.onDatabase({})
  }
}

/** `Database shop on localhost:5432, schema inventory`. */
function databaseText({ name, server, schema = 'public' }: DatabaseAddress): string {
  return `Database ${name} on ${server}${schema === 'public' ? '' : `, schema ${schema}`}`
}
