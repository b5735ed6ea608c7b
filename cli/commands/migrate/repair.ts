import { Flags } from '@oclif/core'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Repair extends Verb {
  static override summary = 'Accept files that were edited after they were applied.'
  static override description = `Shows the edits line by line, and asks for confirmation. Then the command records the files' checksums and SQL as applied. It does not run the files: if an edit changes what a file creates, the database must already contain that change.

Without a terminal it needs --yes.`
  static override differs = 'The question was not confirmed: nothing is recorded.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --yes',
  ]
  static override flags = {
    yes: Flags.boolean({ summary: 'Accept the edits without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<{ readonly repaired: readonly string[] } & OnDatabase> {
    const { flags } = await this.parse(Repair)
    const [{ DatabaseRun }, { noteElsewhere }, { editedLines, repairLines, repairQuestion }] =
      await Promise.all([
        import('../../migrate/database-run.js'),
        import('../../migrate/other-schemas.js'),
        import('../../migrate/views/repair-view.js'),
      ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    const edited = await run.change((migrator) => migrator.edited())
    this.say(edited.flatMap((version) => editedLines(version, run.style)))
    if (edited.length === 0) {
      await noteElsewhere(this, run, await run.change((migrator) => migrator.status()))
      this.say(repairLines([], [], run.style))
      return run.onDatabase({ repaired: [] })
    }
    if (!flags.yes) await run.confirm(repairQuestion(edited), 'nothing is recorded')
    const repaired = await run.change((migrator) => migrator.repair())
    this.say(repairLines(repaired, await run.planned(), run.style))
    return run.onDatabase({ repaired: repaired.map(({ name }) => name) })
  }
}
