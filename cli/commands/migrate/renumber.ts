import { Args, Flags } from '@oclif/core'
import { DIALECTS } from '../../../lib/migrations/files/dialect-name.js'
import { folderFlag } from '../../migrate/database-flags.js'
import type { Renumbered } from '../../migrate/renumber-files.js'
import { Verb } from '../../verb/verb.js'

export default class Renumber extends Verb {
  static override summary = 'Renumber migrations so that they come after all others.'
  static override description = `Use this command if two branches used the same number: name every migration of the branch that is merged last, in its order. Their files get the numbers after all other hand-written migrations, in each engine's folder. No database is needed.

A database that has applied one of them under its old number, such as your own, must roll back that migration first.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 0005_add_colour',
    '<%= config.bin %> <%= command.id %> 0005_add_colour 0006_fill_colour',
  ]
  static override strict = false
  static override args = {
    names: Args.string({ description: 'The migrations, such as 0005_add_colour.', required: true }),
  }
  static override flags = {
    files: folderFlag,
    dialect: Flags.option({ summary: "Renumber only this engine's files.", options: DIALECTS })(),
  }

  override async run(): Promise<readonly Renumbered[]> {
    const { argv, flags } = await this.parse(Renumber)
    const [{ renumber }, { runCommandLine }, { renumberLines, renumberNext, renumberNotes }] =
      await Promise.all([
        import('../../migrate/renumber-files.js'),
        import('../../migrate/run-command-line.js'),
        import('../../migrate/views/renumber-view.js'),
      ])
    const style = { paint: this.paint, command: runCommandLine(flags) }
    const renumbered = renumber(flags.files, flags.dialect, argv.map(String), style.command)
    this.say(renumberLines(renumbered, style))
    this.note(renumberNotes(renumbered, style))
    this.say(renumberNext(renumbered, style))
    return renumbered
  }
}
