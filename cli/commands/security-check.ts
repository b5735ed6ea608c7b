import { Args, Flags } from '@oclif/core'
import type { SecurityReport } from '../../lib/testing/index.js'
import { EXIT_CODES } from '../errors/exit-codes.js'
import { Verb } from '../verb/verb.js'

export default class SecurityCheck extends Verb {
  static override summary = 'Attack a service the way its enemies would, and report what gives way.'
  static override description = `First what is declared: every method has a rule or is meant to be public, every resource template names fields of the request, no rule is for a method that is not there, and fields that look like secrets are marked as such.

Then the service is started in this process, and called over gRPC and HTTP with requests made up from its descriptors. Strangers have to be denied by every method. What one tenant made has to be missing for another: read, updated, deleted, undeleted, batched, listed, filtered and paged. Whatever a database would complain about has to come back in words for callers. And no planted secret or minted token may show up in an answer, an error or the log.

Methods that no request can be made up for are listed as not checked. The service is written to: give it a database that can be thrown away.

The module exports a ServerBuilder, or a function that makes one, as builder, server or default. A Server works too, when its authorizer grants everything to the groups of --group; a builder's authorizer is asked about strangers only.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> dist/server.js',
    '<%= config.bin %> <%= command.id %> dist/server.js --public /widgets.v1.WidgetService/Ping --group staff',
  ]
  static override args = {
    module: Args.string({ description: 'The compiled module that exports the service.', required: true }),
  }
  static override flags = {
    export: Flags.string({ summary: 'The export to take, when it has another name.', helpValue: '<name>' }),
    public: Flags.string({
      summary: 'A method that is meant to be public.',
      helpValue: '</package.Service/Method>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    open: Flags.string({
      summary: 'A method that is meant for everybody with an identity.',
      helpValue: '</package.Service/Method>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    plain: Flags.string({
      summary: 'A field that looks like a secret and is none.',
      helpValue: '<package.Message.field>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    group: Flags.string({
      summary: 'A group of those who make the calls.',
      helpValue: '<name>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    subject: Flags.string({ summary: 'Who makes the calls.', helpValue: '<name>' }),
  }

  override async run(): Promise<SecurityReport> {
    const { args, flags } = await this.parse(SecurityCheck)
    const [{ check }, { reportLines }] = await Promise.all([
      import('../security/check.js'),
      import('../security/report-lines.js'),
    ])
    const report = await check({
      module: args.module,
      exportName: flags.export,
      publicMethods: flags.public ?? [],
      openMethods: flags.open ?? [],
      plainFields: flags.plain ?? [],
      groups: flags.group ?? [],
      subject: flags.subject,
    })
    this.say(reportLines(report, this.paint))
    if (!report.passed) this.endWith('differs')
    // The module's pools and timers would keep the process.
    setTimeout(() => process.exit(report.passed ? EXIT_CODES.done : EXIT_CODES.differs), 1_000).unref()
    return report
  }
}
