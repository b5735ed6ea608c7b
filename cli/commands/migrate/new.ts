import { Args } from '@oclif/core'
import { filesFlag } from '../../migrate/database-flags.js'
import type { NextFiles } from '../../migrate/next-files.js'
import { Verb } from '../../verb.js'

export default class New extends Verb {
  static override summary = 'Write empty files for the next version, for both engines.'
  static override description = `The number is the next one of the hand-written files; the first is 0002, because 0001 is the framework's own.`
  static override examples = ['<%= config.bin %> <%= command.id %> add_colour']
  static override args = {
    name: Args.string({ description: 'What the version does, such as add_colour.', required: true }),
  }
  static override flags = { files: filesFlag }

  override async run(): Promise<NextFiles> {
    const { args, flags } = await this.parse(New)
    const { writeNextFiles } = await import('../../migrate/next-files.js')
    const written = writeNextFiles(flags.files, args.name)
    this.say(written.files.map((file) => `${this.paint.good('written')} ${file}`))
    return written
  }
}
