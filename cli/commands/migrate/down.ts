import { Flags } from '@oclif/core'
import type { DownResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

const EVERYTHING = 'This rolls back every version and drops the framework’s own tables, with what is in them.'

export default class Down extends MigratingVerb {
  static override summary = 'Roll back the last version, or every version above the given one.'
  static override description = `The last applied version is rolled back first. When this image lacks the SQL of a version, the copy in the database is used. Nothing rolls back by itself: an older image does not change a newer schema. The framework's own versions stay, unless --to is 0 or one of them.

It asks first when a way down drops a table or a column, or deletes rows, and says which; and before --to 0, because that also drops the framework's own tables. Without a terminal it needs --yes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 5 --yes',
    '<%= config.bin %> <%= command.id %> --to 0 --yes --module widgets',
  ]
  static override flags = {
    to: Flags.integer(
      versionOptions(
        'The highest version to keep; 0 rolls everything back. Default: all but the last applied.',
        0,
      ),
    ),
    yes: Flags.boolean({ summary: 'Confirms what is lost without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<DownResult & OnDatabase> {
    const { flags } = await this.parse(Down)
    if (!flags.yes) await this.#ask(flags)
    const result = await this.migrating(flags, (migrator) => migrator.down(flags.to))
    this.say([
      ...result.rolledBack.map((name) => `${this.paint.good('rolled back')} ${name}`),
      ...(result.rolledBack.length === 0 ? ['nothing to do: no version is above that'] : []),
    ])
    return this.onDatabase(result)
  }

  async #ask(flags: Parameters<MigratingVerb['migrating']>[0] & { readonly to?: number | undefined }) {
    const { confirmLosses } = await import('../../migrate/confirm-losses.js')
    const rollBacks = await this.migrating(flags, (migrator) => migrator.rollBacks(flags.to))
    await confirmLosses(rollBacks, flags.to === 0 ? EVERYTHING : undefined)
  }
}
