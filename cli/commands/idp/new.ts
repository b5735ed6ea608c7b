import { Flags } from '@oclif/core'
import type { StarterReport } from '../../idp/starter.js'
import { pathFlag } from '../../loading/path-flag.js'
import { Verb } from '../../verb/verb.js'

export default class New extends Verb {
  static override summary = 'Show how to set up an identity provider, or write starter files for one.'
  static override description = `Without --emit, the command writes nothing. --emit writes two files: devedge.yaml, which routes the provider's host to port 8080, and idp-clients.yaml, a sample of what a sync writes. An edited file is not replaced unless you pass --force. Client secrets are guessable on purpose, dev-secret-<name>: never use the file outside development.`
  static override differs = 'An edited file was not replaced.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --emit --dir ./idp',
  ]
  static override flags = {
    dir: pathFlag({
      summary: 'The folder for the files; it is created if it does not exist.',
      default: '.',
    }),
    emit: Flags.boolean({ summary: 'Write devedge.yaml and idp-clients.yaml.' }),
    force: Flags.boolean({ summary: 'Replace files that were edited.', dependsOn: ['emit'] }),
  }

  override async run(): Promise<Partial<StarterReport> & { readonly guidance?: readonly string[] }> {
    const { flags } = await this.parse(New)
    const [{ emitStarter }, { guidanceLines, starterLines }] = await Promise.all([
      import('../../idp/starter.js'),
      import('../../idp/guidance.js'),
    ])
    const run = this.config.bin === 'idp' ? 'idp' : `${this.config.bin} idp`
    const guidance = guidanceLines(run, this.paint)
    if (!flags.emit) {
      this.say([...guidance, '', `${run} new --emit writes files to start from.`])
      return { guidance }
    }
    const report = emitStarter(flags.dir, { folder: process.cwd(), force: flags.force })
    this.say(starterLines(report, run, this.paint))
    return report
  }
}
