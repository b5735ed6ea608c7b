import { Flags } from '@oclif/core'
import type { VersionStatus } from '../../../lib/migrations/index.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { DatabaseVerb } from '../../migrate/database-verb.js'

export default class Status extends DatabaseVerb {
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
    const [{ attempt }, { statusLines }] = await Promise.all([
      import('../../migrate/attempt.js'),
      import('../../migrate/views/status.js'),
    ])
    const migrator = await this.connected(flags)
    await this.noteEmpty(flags)
    const versions = await attempt(() => migrator.status())
    const other = await attempt(() => migrator.otherHistory())
    const elsewhere = await this.noteElsewhere(migrator, versions)
    this.say(statusLines(versions, this.paint, other === undefined && elsewhere === undefined))
    if (elsewhere !== undefined) this.say([elsewhere])
    this.note(other === undefined ? [] : [other.text])
    const differs = versions.some(({ state }) => state !== 'applied' && state !== 'ahead')
    if (flags.check && (differs || other?.isRefused === true)) this.endWith('differs')
    return versions
  }
}
