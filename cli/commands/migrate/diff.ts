import { Args, Flags } from '@oclif/core'
import { requiredEntitiesFlag } from '../../loading/entities.js'
import { databaseFlags, folderFlag, scratchFlag, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import type { NextFiles } from '../../migrate/next-files.js'

/** What was written, and what was not. */
interface Written extends NextFiles, OnDatabase {
  readonly left: readonly string[]
  readonly byHand: readonly string[]
  readonly leftovers: readonly string[]
}

export default class Diff extends MigratingVerb {
  static override summary = 'Write the files that change the tables to what the entities say.'
  static override description = `Replays the files into a scratch database, creates the tables of the entities in another one, and compares the two catalogs. Writes files for the engine of the connection string: run it once for each engine. Both databases are made on the server of --url, named <database>_ashlar_scratch_<random>, and dropped afterwards; the user needs the right to create databases, or --scratch.

Without --contract it writes what is safe while older images run: columns that may be NULL or have a default, indexes, foreign keys that are validated later, copies of renamed columns. Drops, other types and NOT NULL are listed, and --contract writes them, once nothing else is missing and no older image runs. Tables that the entities do not have are left alone.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> add_colour --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> drop_colour --entities dist/entities.js --contract',
    '<%= config.bin %> <%= command.id %> add_colour --entities dist/entities.js --scratch postgres://localhost/scratch',
  ]
  static override args = {
    name: Args.string({ description: 'What the versions do, such as add_colour.', required: true }),
  }
  static override flags = {
    ...databaseFlags,
    files: folderFlag,
    entities: requiredEntitiesFlag,
    contract: Flags.boolean({ summary: 'Write what only images without the old columns can run with.' }),
    live: Flags.boolean({
      summary: 'Compare the database of --url as it is, instead of what the files make.',
    }),
    scratch: scratchFlag,
    'lock-timeout': timeoutFlags['lock-timeout'],
    'statement-timeout': timeoutFlags['statement-timeout'],
    'concurrent-timeout': timeoutFlags['concurrent-timeout'],
  }

  override async run(): Promise<Written> {
    const { args, flags } = await this.parse(Diff)
    const [{ checkDescription, writeNextFiles }, { leftoverText, schemaVersions }] = await Promise.all([
      import('../../migrate/next-files.js'),
      import('../../migrate/schema-versions.js'),
    ])
    checkDescription(args.name)
    const { dialect, versions, left, byHand, leftovers } = await this.migrating(
      { ...flags, mayBegin: true },
      (migrator) => schemaVersions(args.name, migrator, flags),
    )
    const written =
      versions.length === 0 ? { names: [], files: [] } : writeNextFiles(flags.files, dialect, versions)
    this.say([
      ...written.files.map((file) => `${this.paint.good('written')} ${file}`),
      ...(versions.length === 0 ? [`nothing to ${flags.contract ? 'contract' : 'expand'}`] : []),
      ...(flags.contract && versions.length > 0
        ? [
            this.paint.warn(
              'a deployment of its own: apply it when every version before it is applied, and no image without them runs any more',
            ),
          ]
        : []),
      ...(flags.contract || left.length === 0 ? [] : [this.paint.warn('left for --contract:'), ...left]),
      ...(byHand.length === 0 ? [] : [this.paint.warn('to do by hand:'), ...byHand]),
    ])
    this.note(leftovers.map((name) => leftoverText(name)))
    return this.onDatabase({ ...written, left, byHand, leftovers })
  }
}
