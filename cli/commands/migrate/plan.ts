import type { PlannedVersion } from '../../../lib/migrations/index.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Plan extends Verb {
  static override summary = 'Show how migrate up would affect other clients, and change nothing.'
  static override description = `Prints each statement of the pending migrations, with the lock that it acquires, what waits for that lock, its effect on rows, and the sizes of the tables. On PostgreSQL a file that runs in one transaction holds its locks until it ends. It also prints which values are lost, for which rows a statement fails, and what breaks running code.

The plan rejects what migrate up would reject, with the same message and exit status: a file that was edited after it was applied, a statement that cannot run, a schema that another tool migrates.

The plan uses the text of each statement and the rules of the engine. Effects that these do not show, such as a function's effects, are reported as unknown. On MySQL the server chooses how it changes a table unless the statement names ALGORITHM and LOCK. Row counts are the server's estimates.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override flags = { ...databaseFlags }

  override async run(): Promise<readonly PlannedVersion[]> {
    const { flags } = await this.parse(Plan)
    const [{ DatabaseRun }, { noteElsewhere }, { planLines, planNotes }] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/other-schemas.js'),
      import('../../migrate/views/plan-view.js'),
    ])
    const run = new DatabaseRun(this, flags)
    await run.noteEmpty()
    const versions = await run.read((migrator) => migrator.plan())
    const states = await run.read((migrator) => migrator.status())
    const other = await run.read((migrator) => migrator.otherHistory())
    if (versions.length > 0) await noteElsewhere(this, run, states)
    const { lockWaits } = await run.connect()
    const planned = { lockWaits, versions, states, other }
    this.note(planNotes(planned, run.style))
    this.say(planLines(planned, run.style))
    return versions
  }
}
