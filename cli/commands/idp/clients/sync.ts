import { Flags } from '@oclif/core'
import type { SyncReport } from '../../../idp/sync.js'
import { pathFlag } from '../../../loading/path-flag.js'
import { Verb } from '../../../verb/verb.js'

export default class Sync extends Verb {
  static override summary =
    'Write the clients file of the identity provider from the apps that the edge serves.'
  static override description = `Apps are taken from the route registry of the local daemon and from local files. When no daemon runs, the local files alone are used, and the command says so; a daemon that hangs or answers nonsense ends the command, because a sync without it would drop its apps.

The routes of one project are one app; a route without a project is named by the first label of its host. Two hosts with the same first label, of which one has no project, would be one client by chance: they are refused with exit status 2, and nothing is written until one of them has a project (metadata.name in its devedge.yaml). People enter an app by its route with a tile, else by the one without a path, else by the first in order of host and path: that host makes the redirect URI. TCP routes are skipped.

The file is replaced as a whole, never merged: a client whose app was not found is gone, and the command says which. The same apps give the same bytes, and a file that is right already is not written. When no app is found, neither by the daemon nor in a local file, the command says where it looked and exits with 2, and the file is left as it was: an empty list would lock everybody out.

The client secrets are guessable on purpose, dev-secret-<name>: never use the file outside development.

A local file has the kind Config or Service (spec.routes, each with host, upstream, and if need be path, protocol and tile) or Shell (spec.host, spec.shellUpstream, spec.tile); metadata.name is the project. The keys of a tile are displayName, description, iconURL and launchURL. An unknown key is ignored, with a note that names the nearest known one.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --config shell.yaml --out ../idp/idp-clients.yaml',
    '<%= config.bin %> <%= command.id %> --check',
  ]
  static override flags = {
    config: pathFlag({
      summary: 'A file of routes (kind Config, Service or Shell) to include.',
      description:
        'Without it, devedge.yaml and shell.yaml in the working directory are included where they exist.',
    }),
    out: pathFlag({ summary: 'The clients file.', default: 'idp-clients.yaml' }),
    check: Flags.boolean({
      summary: 'Write nothing; exit with 1 when the file is not what a sync would write.',
    }),
  }

  override async run(): Promise<SyncReport> {
    const { flags } = await this.parse(Sync)
    const [{ syncClients }, { syncLines }, { daemonAddresses }] = await Promise.all([
      import('../../../idp/sync.js'),
      import('../../../idp/sync-lines.js'),
      import('../../../idp/routes/daemon-address.js'),
    ])
    const report = await syncClients({ ...flags, folder: process.cwd(), addresses: daemonAddresses() })
    this.note(report.notes)
    this.say(syncLines(report, this.paint))
    if (report.state === 'differs') this.endWith('differs')
    return report
  }
}
