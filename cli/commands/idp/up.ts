import { Flags } from '@oclif/core'
import type { UpReport } from '../../idp/route-provider.js'
import { Verb } from '../../verb/verb.js'

const HIGHEST_PORT = 65_535

export default class Up extends Verb {
  static override summary = 'Serve the identity provider at its host through the local HTTPS proxy.'
  static override description = `Registers or renews the route with the proxy's daemon. The command does not build or run the provider: start it yourself, on this port. The ashlar-idp package contains a provider and a local HTTPS proxy: "npx ashlar-idp up" runs both.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 9000',
    '<%= config.bin %> <%= command.id %> --host login.dev.test --upstream http://127.0.0.1:9000',
  ]
  static override flags = {
    host: Flags.string({
      summary: "The provider's full host name.",
      helpValue: '<name>',
      default: 'idp.dev.test',
    }),
    port: Flags.integer({
      summary: "The provider's port on this machine.",
      helpValue: '<int>',
      default: 8080,
      min: 1,
      max: HIGHEST_PORT,
    }),
    upstream: Flags.string({ summary: "The provider's URL; overrides --port.", helpValue: '<url>' }),
  }

  override async run(): Promise<UpReport> {
    const { flags } = await this.parse(Up)
    const [{ routeProvider }, { upLines }, { daemonAddresses }] = await Promise.all([
      import('../../idp/route-provider.js'),
      import('../../idp/up-lines.js'),
      import('../../idp/routes/daemon-address.js'),
    ])
    const report = await routeProvider({ ...flags, addresses: daemonAddresses() })
    this.say(upLines(report, this.paint))
    return report
  }
}
