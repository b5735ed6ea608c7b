import { Args, Flags } from '@oclif/core'
import { requiredEntitiesFlag } from '../../loading/entities.js'
import { databaseFlags, folderFlag, scratchFlag, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import type { NextFiles } from '../../migrate/next-files.js'
import type { ShownChanges } from '../../migrate/schema-versions.js'
import { Verb } from '../../verb/verb.js'

export default class Diff extends Verb {
  static override summary = 'Write the files that change the tables to match the entities.'
  static override description = `Replays the files into a scratch database, creates the entities' tables in another one, and compares the two catalogs. The live database is compared only with --live. Writes files for the connection string's engine: run it once for each engine. Both databases are created on the server of --url, named <database>_ashlar_scratch_<random>, and dropped afterwards. The user needs the privilege to create databases; otherwise pass --scratch.

Without --contract, the command writes changes that are safe while processes with older code run: columns that may be NULL or have a default, indexes, foreign keys that are validated later, copies of renamed columns. Unsafe changes belong to the contract phase: dropping columns, requiring values, changing types. They are listed as left, and --contract writes them. Each file is first tried in a scratch database. A file that fails there is not written, and the error names what blocks it, such as a view.

Pass --contract when every migration in the folder is applied and no process with the older code runs. The command then writes nothing while a safe change is missing or not applied to the database of --url. Deploy these files separately. Tables without an entity are not changed.`
  static override differs =
    '--contract: an expand migration is needed first or is pending, or a file fails in a scratch database. --live: a migration is pending, or the database differs from what the files create.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> add_colour --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> drop_colour --entities dist/entities.js --contract',
    '<%= config.bin %> <%= command.id %> add_colour --entities dist/entities.js --scratch postgres://localhost/scratch',
  ]
  static override args = {
    name: Args.string({
      description: 'A description of the migrations, such as add_colour.',
      required: true,
    }),
  }
  static override flags = {
    ...databaseFlags,
    files: folderFlag,
    entities: requiredEntitiesFlag,
    contract: Flags.boolean({
      summary:
        'Write the changes that are left: drops, required columns and changed types. No process with older code may be running.',
    }),
    live: Flags.boolean({
      summary:
        'Compare the database of --url as it is. If it differs from what the files create, write nothing, and print how to restore it.',
    }),
    scratch: scratchFlag,
    'lock-timeout': timeoutFlags['lock-timeout'],
    'statement-timeout': timeoutFlags['statement-timeout'],
    'concurrent-timeout': timeoutFlags['concurrent-timeout'],
  }

  override async run(): Promise<NextFiles & ShownChanges & OnDatabase> {
    const { args, flags, metadata } = await this.parse(Diff)
    const [
      { DatabaseRun },
      { diffHeading },
      { checkDescription, refuseMissing },
      { shownChanges, writtenVersions },
      view,
    ] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/headings.js'),
      import('../../migrate/next-files.js'),
      import('../../migrate/schema-versions.js'),
      import('../../migrate/views/diff-view.js'),
    ])
    checkDescription(args.name)
    const run = new DatabaseRun(this, { ...flags, mayBegin: true }, { heading: await diffHeading(flags) })
    if (metadata.flags.files?.setFromDefault !== true) refuseMissing(flags.files, run.command)
    const { compared, notes, written } = await run.change((migrator) =>
      writtenVersions(args.name, migrator, flags, run.command),
    )
    this.say(view.diffLines({ ...compared, ...written }, flags, run.style))
    if (compared.drift.length > 0) this.endWith('differs')
    this.note([...notes, ...compared.leftovers.map(view.leftoverText)])
    return run.onDatabase({ ...written, ...shownChanges(compared) })
  }
}
