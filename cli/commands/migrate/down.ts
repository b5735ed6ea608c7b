import { Flags } from '@oclif/core'
import type { DownResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Down extends Verb {
  static override summary = 'Roll back the last migration, or every migration above the given one.'
  static override description = `The command rolls back the last applied migration first. If this image lacks a migration's SQL, the command uses the copy in the database. Migrations are never rolled back automatically: an older image does not change a newer schema. The framework's own migrations remain applied, unless --to is 0 or one of them.

If a down migration drops a table or a column or deletes rows, the command lists the losses and asks first. It also asks if rows that a migration wrote remain and would be written a second time, and before --to 0, because that also drops the framework's own tables. Without a terminal it needs --yes. Anything that an up migration removed, such as a dropped column, comes back without its values: the command reports that before and after.`
  static override differs = 'The question was not confirmed: nothing is changed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 5 --yes',
    '<%= config.bin %> <%= command.id %> --to 0 --yes --module widgets',
  ]
  static override flags = {
    to: Flags.integer(
      versionOptions(
        'The highest migration to keep; 0 rolls everything back. Default: all but the last applied.',
        0,
      ),
    ),
    yes: Flags.boolean({ summary: 'Confirm the loss without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<DownResult & OnDatabase> {
    const { flags } = await this.parse(Down)
    const [{ DatabaseRun }, { noteElsewhere }, { downLines, downNotes, lossesQuestion }] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/other-schemas.js'),
      import('../../migrate/views/down-view.js'),
    ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    const { to } = flags
    const rollBacks = await run.change((migrator) => migrator.rollBacks(to))
    this.note(downNotes(rollBacks, to))
    await run.confirmLoss(lossesQuestion(rollBacks, run.style, to === 0), flags.yes)
    const result = await run.change((migrator) => migrator.down(to))
    const done = rollBacks.filter(({ name }) => result.rolledBack.includes(name))
    const isNothing = result.rolledBack.length === 0
    const states = isNothing ? await run.change((migrator) => migrator.status()) : []
    if (isNothing) await noteElsewhere(this, run, states)
    const pending = isNothing || to === 0 ? [] : await run.planned()
    this.say(downLines({ result, done, to, pending, states }, run.style))
    return run.onDatabase(result)
  }
}
