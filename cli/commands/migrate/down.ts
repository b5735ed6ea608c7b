import { Flags } from '@oclif/core'
import type { DownResult } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

const HIGHEST_VERSION = 9_999

export default class Down extends MigratingVerb {
  static override summary = 'Roll back every version above the given one.'
  static override description = `The last applied version is rolled back first. When this image lacks the SQL of a version, the copy in the database is used. Nothing rolls back by itself: an older image does not change a newer schema.

--to 0 asks first, because it also drops the framework's own tables. Without a terminal it needs --yes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --to 5',
    '<%= config.bin %> <%= command.id %> --to 0 --yes --module widgets',
  ]
  static override flags = {
    to: Flags.integer({
      summary: 'The highest version to keep; 0 rolls everything back.',
      helpValue: '<version>',
      required: true,
      min: 0,
      max: HIGHEST_VERSION,
    }),
    yes: Flags.boolean({ summary: 'Confirms --to 0 without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<DownResult> {
    const { flags } = await this.parse(Down)
    if (flags.to === 0 && !flags.yes) await this.#ask()
    const result = await this.migrating(flags, (migrator) => migrator.down(flags.to))
    this.say([
      ...result.rolledBack.map((name) => `${this.paint.good('rolled back')} ${name}`),
      ...(result.rolledBack.length === 0 ? ['nothing to do: no version is above that'] : []),
    ])
    return result
  }

  async #ask(): Promise<void> {
    const { confirmed } = await import('../../output/confirmed.js')
    const question =
      'This rolls back every version and drops the framework’s own tables, with what is in them.'
    if (!(await confirmed(question))) throw new Failure('differs', 'nothing is rolled back')
  }
}
