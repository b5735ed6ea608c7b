import { Flags } from '@oclif/core'
import type { TriedVersion } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import { copyText } from '../../migrate/headings.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import { appliesText, nothingText } from '../../migrate/missing-versions.js'

export default class DryRun extends MigratingVerb {
  static override summary = 'Apply the missing versions to a copy, and measure what others notice.'
  static override description = `The database of --url is changed: name a copy. While each version runs, the tables of its statements are read and written by other sessions; the writes change no row. It prints how long the file of each version ran, the longest read and write beside it, the locks that it held, and the tables that were rewritten.

Locks are measured on PostgreSQL, for files that run in a transaction; on MySQL, rewritten tables with the privilege PROCESS. What is not measured is said to be so, and missing in the JSON. Locks of rows, such as those of a backfill, are never measured. It asks first; without a terminal it needs --yes.`
  static override differs = 'The question was not confirmed: nothing is applied.'
  static override examples = ['<%= config.bin %> <%= command.id %> --url postgres://localhost/copy --yes']
  static override flags = {
    yes: Flags.boolean({ summary: 'Confirms that the database is a copy.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  protected override heading = copyText

  readonly #tried: TriedVersion[] = []

  override async run(): Promise<readonly TriedVersion[]> {
    const { flags } = await this.parse(DryRun)
    const { nextOfTried, triedLines, unmeasuredLines } = await import('../../migrate/lines/tried-lines.js')
    await this.noteEmpty(flags)
    const states = await this.migrating(flags, (migrator) => migrator.status())
    const applies = appliesText(states)
    if (applies === '') {
      this.say([nothingText(states)])
      return []
    }
    if (!flags.yes) await this.confirm(`This ${applies} to it, so it has to be a copy.`, 'nothing is applied')
    const planned = await this.migrating(flags, (migrator) => migrator.plan())
    const versions = await this.migrating(flags, (migrator) =>
      migrator.dryRun((version) => {
        this.#tried.push(version)
        this.say(triedLines(version, this.paint))
      }),
    )
    this.note(unmeasuredLines(versions))
    this.say([nextOfTried(planned)])
    return versions
  }

  protected override beforeFailure(): object {
    return { ...super.beforeFailure(), versions: this.#tried }
  }
}
