import { Flags } from '@oclif/core'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

export default class Repair extends MigratingVerb {
  static override summary = 'Accept files that were edited after they were applied.'
  static override description = `Shows what was edited, line by line, and asks. Then the checksums and the SQL of the files are recorded as what was applied. Nothing is run: an edit that changes what the file makes has to be in the database already.

Without a terminal it needs --yes.`
  static override differs = 'The question was not confirmed: nothing is recorded.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --yes',
  ]
  static override flags = {
    yes: Flags.boolean({ summary: 'Accepts the edits without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  protected override readonly mayChange = true

  override async run(): Promise<{ readonly repaired: readonly string[] } & OnDatabase> {
    const { flags } = await this.parse(Repair)
    const [{ editedLines }, { namesText }] = await Promise.all([
      import('../../migrate/lines/edited-lines.js'),
      import('../../migrate/lines/names-text.js'),
    ])
    const edited = await this.migrating(flags, (migrator) => migrator.edited())
    this.say(edited.flatMap((version) => editedLines(version, this.paint)))
    if (edited.length === 0) {
      const migrator = await this.connected(flags)
      await this.noteElsewhere(migrator, await this.migrating(flags, (one) => one.status()))
      this.say(['nothing to do: no applied file was edited'])
      return this.onDatabase({ repaired: [] })
    }
    if (!flags.yes) {
      const names = namesText(edited.map(({ name }) => name))
      await this.confirm(
        `This records the files of ${names} as what was applied, and runs no statement.`,
        'nothing is recorded',
      )
    }
    const repaired = await this.migrating(flags, (migrator) => migrator.repair())
    this.say(
      repaired.map(
        ({ name }) =>
          `${this.paint.good('recorded')} the file of ${name} as what was applied: nothing of it was run`,
      ),
    )
    await this.nextUp(flags)
    return this.onDatabase({ repaired: repaired.map(({ name }) => name) })
  }
}
