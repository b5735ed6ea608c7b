import { Flags } from '@oclif/core'
import type { TriedVersion } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

export default class DryRun extends MigratingVerb {
  static override summary = 'Apply the missing versions to a copy, and measure what others notice.'
  static override description = `The database of --url is changed: name a copy. While each version runs, the tables of its statements are read and written by other sessions; the writes change no row. It prints the longest read and write beside each version, the locks that PostgreSQL held, and the tables that were rewritten. On MySQL, rewriting is seen with the privilege PROCESS only.

Locks of rows, such as those of a backfill, are not measured. It asks first; without a terminal it needs --yes.`
  static override examples = ['<%= config.bin %> <%= command.id %> --url postgres://localhost/copy --yes']
  static override flags = {
    yes: Flags.boolean({ summary: 'Confirms that the database is a copy.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  readonly #tried: TriedVersion[] = []

  override async run(): Promise<readonly TriedVersion[]> {
    const { flags } = await this.parse(DryRun)
    const [{ confirmed }, { triedLines }] = await Promise.all([
      import('../../output/confirmed.js'),
      import('../../migrate/lines/tried-lines.js'),
    ])
    await this.noteEmpty(flags)
    const question = 'This applies every missing version to the database of --url, which has to be a copy.'
    if (!flags.yes && !(await confirmed(question))) throw new Failure('differs', 'nothing is applied')
    const versions = await this.migrating(flags, (migrator) =>
      migrator.dryRun((version) => {
        this.#tried.push(version)
        this.say(triedLines(version, this.paint))
      }),
    )
    if (versions.length === 0) this.say(['nothing to do: the schema is current'])
    return versions
  }

  protected override beforeFailure(): object {
    return { ...super.beforeFailure(), versions: this.#tried }
  }
}
