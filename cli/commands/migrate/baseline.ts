import { Flags } from '@oclif/core'
import type { BaselineResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Baseline extends Verb {
  static override summary = 'Record migrations as applied without running their files.'
  static override description = `Use this command if the database already contains everything that the files up to --to create, because another tool or a person created it. The command records the files with their checksums, and creates the framework's own tables of 0001 if they are missing. It rejects a database in which one of the module's migrations has already run.

The command does not compare the files with the database: run migrate verify --entities afterwards.`
  static override examples = ['<%= config.bin %> <%= command.id %> --to 2']
  static override flags = {
    to: Flags.integer({
      ...versionOptions('The last migration whose changes the database already contains.'),
      required: true,
    }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<BaselineResult & OnDatabase> {
    const { flags } = await this.parse(Baseline)
    const [{ DatabaseRun }, { baselineLines, baselineNotes }] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/views/baseline-view.js'),
    ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    const result = await run.change((migrator) => migrator.baseline(flags.to))
    this.note(baselineNotes(result, run.style))
    this.say(baselineLines(result, run.style))
    return run.onDatabase(result)
  }
}
