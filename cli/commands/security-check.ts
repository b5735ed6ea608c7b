import { Args, Flags } from '@oclif/core'
import type { SecurityReport } from '../../lib/testing/index.js'
import { EXIT_CODES } from '../errors/exit-codes.js'
import { Verb } from '../verb/verb.js'

export default class SecurityCheck extends Verb {
  static override summary = 'Check a service the way an attacker would, and report every weakness.'
  static override description = `First it checks the declarations: every method has a rule or is intended to be public, every resource template names fields of the request, no rule names a missing method, and fields that look like secrets are marked as secrets.

Then it starts the service in this process, and calls it over gRPC and HTTP with requests generated from its descriptors. Every method must deny unknown callers. One tenant's resources must appear not to exist for another tenant, in every standard method and in filters and pages. Input that a database rejects must produce an error that is safe to show to callers. No planted secret or minted token may appear in a response, an error or the log.

The two tenants are generated in the type of the tenant column. If that column refers to a table of tenants, pass two of its keys with --tenant.

Methods for which no request can be generated are listed as not checked. The check writes to the service: use a disposable database. The command does not support samples (sample values for resources), requests (requests for your own methods), leaveOut (methods to leave out) or accept (findings to accept): for these options, call securityCheck from ashlar/testing in a test.

The module exports a ServerBuilder, or a function that returns one, named checked, builder, server or default. The function can be async, and its DataSource must be initialized. A Server works too if its authorizer grants everything to the groups of --group; a builder's authorizer decides for unknown callers only.`
  static override differs = 'A fault was found.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> dist/src/server.js',
    '<%= config.bin %> <%= command.id %> dist/src/server.js --public /widgets.v1.WidgetService/Ping --group staff',
  ]
  static override args = {
    module: Args.string({ description: 'The compiled module that exports the service.', required: true }),
  }
  static override flags = {
    export: Flags.string({
      summary: 'The name of the export, if it is not checked, builder, server or default.',
      helpValue: '<name>',
    }),
    public: Flags.string({
      summary: 'A method that is intended to be public.',
      helpValue: '</package.Service/Method>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    open: Flags.string({
      summary: 'A method that every authenticated caller may call.',
      helpValue: '</package.Service/Method>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    plain: Flags.string({
      summary: 'A field that looks like a secret but is not.',
      helpValue: '<package.Message.field>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    group: Flags.string({
      summary: 'A group of the calling principals.',
      helpValue: '<name>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    subject: Flags.string({ summary: 'The subject of the calling principals.', helpValue: '<name>' }),
    tenant: Flags.string({
      summary: 'One of the two tenants, if their rows must exist; pass the flag twice.',
      helpValue: '<name>',
      multiple: true,
      multipleNonGreedy: true,
    }),
  }

  override async run(): Promise<SecurityReport> {
    const { args, flags } = await this.parse(SecurityCheck)
    const [{ check }, { optionNotes, reportLines }] = await Promise.all([
      import('../security/check-service.js'),
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
      tenants: flags.tenant,
    })
    this.say(reportLines(report, this.paint))
    this.note(optionNotes(report))
    if (!report.passed) this.endWith('differs')
    // The module's pools and timers would keep the process alive.
    setTimeout(() => process.exit(report.passed ? EXIT_CODES.done : EXIT_CODES.differs), 1_000).unref()
    return report
  }
}
