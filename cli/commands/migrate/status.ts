import { Flags } from '@oclif/core'
import type { VersionStatus } from '../../../lib/migrations/index.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Status extends Verb {
  static override summary = 'Show which versions the database has, and which it lacks.'
  static override description = `Applied, pending, running (a session works on it now), dirty (its step failed, and the next run resumes it), edited (the file differs from what was applied) or ahead (these files do not have it: a newer release applied it, or its file was removed). A version that was recorded and not run here says so. Changes nothing and takes no locks.`
  static override differs =
    '--check, and a version is pending, running, dirty or edited, or up would refuse it.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --check',
  ]
  static override flags = {
    ...databaseFlags,
    check: Flags.boolean({
      summary: 'Exit with 1 when a version is pending, running, dirty or edited, or up refuses the database.',
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
