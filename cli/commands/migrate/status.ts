import { Flags } from '@oclif/core'
import type { VersionStatus } from '../../../lib/migrations/index.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Status extends Verb {
  static override summary = 'Show which migrations are applied, and which are pending.'
  static override description = `Each migration has one of these states:

- applied
- pending
- running: a session is working on it now
- dirty: its step failed, and the next run resumes it
- edited: the file has changed since it was applied
- ahead: the files do not contain the migration, because a newer release applied it or its file was removed

Migrations that were recorded but not run here are marked. The command changes nothing and acquires no locks.`
  static override differs =
    '--check: a migration is pending, running, dirty or edited, or up would reject the database.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --check',
  ]
  static override flags = {
    ...databaseFlags,
    check: Flags.boolean({
      summary:
        'Exit with 1 if a migration is pending, running, dirty or edited, or if up would reject the database.',
    }),
  }

  override async run(): Promise<readonly VersionStatus[]> {
    const { flags } = await this.parse(Status)
    const [{ historyText }, { DatabaseRun }, { noteElsewhere }, { statusLines }] = await Promise.all([
      import('../../../lib/migrations/index.js'),
      import('../../migrate/database-run.js'),
      import('../../migrate/other-schemas.js'),
      import('../../migrate/views/status-view.js'),
    ])
    const run = new DatabaseRun(this, flags)
    await run.noteEmpty()
    const versions = await run.read((migrator) => migrator.status())
    const other = await run.read((migrator) => migrator.otherHistory())
    const elsewhere = await noteElsewhere(this, run, versions)
    this.say(statusLines({ versions, other, elsewhere }, run.style))
    this.note(other === undefined ? [] : [historyText(other, run.command)])
    const differs = versions.some(({ state }) => state !== 'applied' && state !== 'ahead')
    if (flags.check && (differs || other?.isRefused === true)) this.endWith('differs')
    return versions
  }
}
