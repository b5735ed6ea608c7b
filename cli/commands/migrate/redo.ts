import { Flags } from '@oclif/core'
import type { DownResult, UpResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Redo extends Verb {
  static override summary = 'Roll back the last migration and apply it again.'
  static override description = `Use this command for a migration that you are writing: edit its file, then run the command. If the up migration was edited, the command uses the down migration that was stored when the migration was applied.

Like migrate down, it asks first if the down migration loses values. Without a terminal it then needs --yes.`
  static override differs = 'The question was not confirmed: nothing is changed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --yes',
  ]
  static override flags = {
    yes: Flags.boolean({ summary: 'Confirm the loss without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<DownResult & UpResult & OnDatabase> {
    const { flags } = await this.parse(Redo)
    const [{ DatabaseRun }, { noteElsewhere }, { lossesQuestion, lossNotes }, { redoLines, redoThen }] =
      await Promise.all([
        import('../../migrate/database-run.js'),
        import('../../migrate/other-schemas.js'),
        import('../../migrate/views/down-view.js'),
        import('../../migrate/views/redo-view.js'),
      ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    const rollBacks = await run.change((migrator) => migrator.checkRedo())
    this.note(lossNotes(rollBacks))
    const then = redoThen(await run.planned())
    await run.confirmLoss(lossesQuestion(rollBacks, run.style, false, then), flags.yes)
    const result = await run.change((migrator) => migrator.redo())
    if (result.rolledBack.length === 0) await noteElsewhere(this, run, [])
    this.say(redoLines(result, await run.planned(), run.style))
    return run.onDatabase(result)
  }
}
