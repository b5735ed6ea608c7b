import { Flags } from '@oclif/core'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Repair extends Verb {
  static override summary = 'Accept files that were edited after they were applied.'
  static override description = `Shows what was edited, line by line, and asks. Then the checksums and the SQL of the files are recorded as applied. Nothing is run: if an edit changes what the file creates, the database must already have that change.

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
