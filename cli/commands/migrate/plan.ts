import type { PlannedVersion } from '../../../lib/migrations/index.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { DatabaseVerb } from '../../migrate/database-verb.js'
import { nothingText } from '../../migrate/missing-versions.js'

export default class Plan extends DatabaseVerb {
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
    const [{ attempt }, { planLines }] = await Promise.all([
      import('../../migrate/attempt.js'),
      import('../../migrate/lines/plan-lines.js'),
    ])
    const migrator = await this.connected(flags)
    await this.noteEmpty(flags)
    const versions = await attempt(() => migrator.plan())
    const states = await attempt(() => migrator.status())
    const other = await attempt(() => migrator.otherHistory())
    if (versions.length > 0) await this.noteElsewhere(migrator, states)
    const failed = states.filter(
      ({ state, isMissing, unfinished }) => state === 'dirty' && isMissing && unfinished?.direction === 'up',
    )
    this.note([
      ...(other === undefined ? [] : [other.text]),
      ...failed.map(
        ({ name }) => `${name} did not come to its end in an earlier run: ashlar migrate status says why`,
      ),
    ])
    const running = states.filter(({ state }) => state === 'running')
    this.note(
      running.map(
        ({ name, holder }) =>
          `${name} is being migrated now, by ${holder ?? 'another session'}: plan again when it has ended`,
      ),
    )
    const names = running.map(({ name }) => name)
    this.say(
      versions.length > 0
        ? planLines(versions, names, migrator.lockWaits, this.paint)
        : [names.length > 0 ? `nothing to do beside that` : nothingText(states)],
    )
    return versions
  }
}
