import { Flags } from '@oclif/core'
import type { DownResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

const HIGHEST_VERSION = 9_999

export default class Down extends MigratingVerb {
  static override summary = 'Roll back every version above the one named.'
  static override description = `The last version that was applied goes first. SQL that this image does not ship any more is taken from the database, which keeps what it once ran. Nothing rolls back by itself: an older image leaves a newer schema alone.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --to 5',
    '<%= config.bin %> <%= command.id %> --to 0 --module widgets',
  ]
  static override flags = {
    to: Flags.integer({
      summary: 'The version that stays as the highest; 0 rolls everything back.',
      helpValue: '<version>',
      required: true,
      min: 0,
      max: HIGHEST_VERSION,
    }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<DownResult> {
    const { flags } = await this.parse(Down)
    const [{ migratorOf }, { attempt }] = await Promise.all([
      import('../../migrate/migrator-of.js'),
      import('../../migrate/attempt.js'),
    ])
    const migrator = await migratorOf(flags, await this.progress())
    const result = await attempt(() => migrator.down(flags.to))
    this.say([
      ...result.rolledBack.map((name) => `${this.paint.good('rolled back')} ${name}`),
      ...(result.rolledBack.length === 0 ? ['nothing to do: no version is above that'] : []),
    ])
    return result
  }
}
