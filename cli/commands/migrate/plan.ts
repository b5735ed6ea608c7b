import type { PlannedVersion } from '../../../lib/migrations/index.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Plan extends Verb {
  static override summary = 'Show what migrate up would do to others, and change nothing.'
  static override description = `Prints each statement of the versions that the database lacks, with the lock that it takes, what waits for that lock, what it does with the rows, and how large the tables are. On PostgreSQL a file that runs in one transaction holds its locks until it ends. It also says which values are lost, for which rows a statement fails, and what breaks code that runs now.

What migrate up would refuse is refused here as well, with the same words and exit status: a file that was edited after it was applied, a statement that cannot run, a schema that another tool migrates.

It goes by the text of a statement and the rules of the engine. What they do not show, such as what a function does, is called unknown. On MySQL the server chooses how it changes a table unless the statement says ALGORITHM and LOCK. Numbers of rows are the server's estimates.`
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
