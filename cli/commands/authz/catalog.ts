import { Args, Flags } from '@oclif/core'
import { Failure } from '../../errors/failure.js'
import { pathFlag } from '../../loading/path-flag.js'
import { Verb } from '../../verb/verb.js'

export default class CatalogVerb extends Verb {
  static override summary = 'Print the permission that each method requires.'
  static override description = `The permission catalog has one line per method. The line contains the method's verb and resource, or states that the method is public. A server with an undeclared method does not start.

The module exports a ServerBuilder, a Server, or a function that returns one, named builder, server or default. Generated code with rules in its .proto works too. The command does not start the server. Lines are sorted, and the same services always produce the same bytes, so a review of a committed catalog shows every changed permission.`
  static override differs = '--check: the file differs from what would be written.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> dist/gen/widgets_pb.js',
    '<%= config.bin %> <%= command.id %> dist/server.js --format markdown > permissions.md',
    '<%= config.bin %> <%= command.id %> dist/server.js --format markdown --check permissions.md',
  ]
  static override args = {
    module: Args.string({
      description: 'The compiled module of the server or of generated services.',
      required: true,
    }),
  }
  static override flags = {
    format: Flags.option({
      summary: 'The output format.',
      options: ['table', 'json', 'markdown'] as const,
      default: 'table' as const,
    })(),
    export: Flags.string({
      summary: 'The name of the export, if it is not builder, server or default.',
      helpValue: '<name>',
    }),
    check: pathFlag({
      summary: 'Print nothing; exit with 1 if this file differs from the catalog in that format.',
    }),
  }

  override async run(): Promise<unknown> {
    const { args, flags } = await this.parse(CatalogVerb)
    const { catalog } = await import('../../authz/catalog-of-service.js')
    const { check, format } = flags
    const { permissions, text, differs } = await catalog({
      module: args.module,
      exportName: flags.export,
      format,
      check,
    })
    if (check === undefined) this.say(text.trimEnd().split('\n'))
    if (differs)
      throw new Failure(
        'differs',
        `${check ?? ''} does not contain the catalog of ${args.module}: write it with --format ${format}`,
      )
    return { permissions }
  }
}
