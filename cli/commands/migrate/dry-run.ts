import { Flags } from '@oclif/core'
import type { TriedVersion } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import { Verb } from '../../verb/verb.js'

export default class DryRun extends Verb {
  static override summary =
    'Apply the missing migrations to a copy, and measure their effect on other clients.'
  static override description = `The command changes the database of --url: pass the URL of a copy. While each migration runs, other sessions read and write the tables of its statements; the writes change no row. It prints how long each file ran, the longest read and write during that time, the locks that it held, and the tables that were rewritten.

Locks are measured on PostgreSQL, for files that run in a transaction. On MySQL, detecting table rewrites requires the PROCESS privilege. The output lists what was not measured, and the JSON omits it. Row locks, such as those of a backfill, are never measured. It asks first; without a terminal it needs --yes.`
  static override differs = 'The question was not confirmed: nothing is applied.'
  static override examples = ['<%= config.bin %> <%= command.id %> --url postgres://localhost/copy --yes']
  static override flags = {
    yes: Flags.boolean({ summary: 'Confirm that the database is a copy.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<readonly TriedVersion[]> {
    const { flags } = await this.parse(DryRun)
    const [{ DatabaseRun }, { copyText }, { appliesText, nothingText }, view] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/headings.js'),
      import('../../migrate/lines/missing-versions.js'),
      import('../../migrate/views/dry-run-view.js'),
    ])
    const run = new DatabaseRun(this, flags, { heading: copyText })
    const tried: TriedVersion[] = []
    this.beside.versions = tried
    await run.noteEmpty()
    const states = await run.change((migrator) => migrator.status())
    const applies = appliesText(states)
    if (applies === '') {
      this.say([nothingText(states, run.command)])
      return []
    }
    if (!flags.yes) await run.confirm(view.dryRunQuestion(applies), 'nothing is applied')
    const planned = await run.change((migrator) => migrator.plan())
    const versions = await run.change((migrator) =>
      migrator.dryRun((version) => {
        tried.push(version)
        this.say(view.triedLines(version, run.style))
      }),
    )
    this.note(view.unmeasuredLines(versions))
    this.say([view.nextOfTried(planned, run.style)])
    return versions
  }
}
