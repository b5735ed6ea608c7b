import { Flags } from '@oclif/core'
import type { SyncReport } from '../../../idp/sync-clients.js'
import { pathFlag } from '../../../loading/path-flag.js'
import { Verb } from '../../../verb/verb.js'

export default class Sync extends Verb {
  static override summary =
    "Write the identity provider's clients file from the apps that the local HTTPS proxy serves."
  static override description = `The command reads apps from the route registry of the proxy's daemon and from local files. If no daemon is running, the command uses only the local files and reports that. If the daemon hangs or returns an invalid response, the command fails, because a sync without the daemon would drop its apps.

The routes of one project form one app. A route without a project is named after the first label of its host. Two hosts with the same first label and no common project would become one client by mistake. The command rejects them with exit status 2, and writes nothing until one of them has a project (metadata.name in its devedge.yaml). The redirect URI uses the host of the route with a tile, otherwise the host of the route without a path, otherwise the host of the first route by host and path. TCP routes are skipped.

If an app cannot be written, for example because its host has no dot, the command skips it and prints its name. The other apps are written.

The file is replaced, never merged: a client whose app was not found is removed, and the command prints its name. The same apps produce the same bytes, and a current file is not written again. If no app is found, the command prints where it searched and exits with 2. The file then stays as it was: an empty list would lock everyone out.

The client secrets are guessable on purpose, dev-secret-<name>: never use the file outside development.

A local file has the kind Config or Service (spec.routes, each with host, upstream, and optionally path, protocol and tile) or Shell (spec.host, spec.shellUpstream, spec.tile); metadata.name is the project. A tile's keys are displayName, description, iconURL and launchURL. An unknown key is ignored, with a note that names the nearest known key.`
  static override differs = '--check: the file differs from what would be written.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --config shell.yaml --out ../idp/idp-clients.yaml',
    '<%= config.bin %> <%= command.id %> --check',
  ]
  static override flags = {
    config: pathFlag({
      summary: 'A file of routes (kind Config, Service or Shell) to include.',
      description:
        'Without it, devedge.yaml and shell.yaml in the working directory are included if they exist.',
    }),
    out: pathFlag({ summary: 'The clients file.', default: 'idp-clients.yaml' }),
    check: Flags.boolean({
      summary: 'Write nothing; exit with 1 if the file is out of date.',
    }),
  }

  override async run(): Promise<SyncReport> {
    const { flags } = await this.parse(Sync)
    const [{ syncClients }, { syncLines }, { daemonAddresses }] = await Promise.all([
      import('../../../idp/sync-clients.js'),
      import('../../../idp/sync-lines.js'),
      import('../../../idp/routes/daemon-address.js'),
    ])
    const request = { ...flags, folder: process.cwd(), addresses: daemonAddresses() }
    const fileNotes: string[] = []
    const report = await syncClients({ ...request, fileNotes }).catch((error: unknown) => {
      // A misspelling in the local files may be the cause of the failure.
      this.note(fileNotes)
      if (fileNotes.length > 0) this.beside.notes = fileNotes
      throw error
    })
    this.note(report.notes)
    this.say(syncLines(report, this.paint))
    if (report.state === 'differs') this.endWith('differs')
    return report
  }
}
