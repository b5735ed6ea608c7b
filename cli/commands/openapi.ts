import { Args, Flags } from '@oclif/core'
import { Failure } from '../errors/failure.js'
import { pathFlag } from '../loading/path-flag.js'
import { Verb } from '../verb/verb.js'

export default class OpenApi extends Verb {
  static override summary = "Write a service's OpenAPI document."
  static override description = `The document describes the gateway's HTTP/JSON API in OpenAPI 3.1: paths, parameters, schemas, statuses and security, as the server serves it at /openapi.json.

The module exports a ServerBuilder, a Server, or a function that returns one, named builder, server or default. Generated code works too. The command does not start the server. The same services always produce the same bytes, so a review of a committed document shows what changed for clients.`
  static override differs = '--check: the document differs from what would be written.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> dist/server.js --out openapi.json',
    '<%= config.bin %> <%= command.id %> dist/server.js --out openapi.json --check',
    '<%= config.bin %> <%= command.id %> dist/gen/widgets_pb.js --image image.binpb',
  ]
  static override args = {
    module: Args.string({
      description: 'The compiled module of the server or of generated services.',
      required: true,
    }),
  }
  static override flags = {
    out: pathFlag({ summary: 'The file to write. Default: stdout.' }),
    check: Flags.boolean({
      summary: 'Write nothing; exit with 1 and print the first difference if the file of --out differs.',
      dependsOn: ['out'],
    }),
    export: Flags.string({
      summary: 'The name of the export, if it is not builder, server or default.',
      helpValue: '<name>',
    }),
    image: pathFlag({
      summary: 'A buf image, whose comments become descriptions: buf build -o image.binpb.',
    }),
  }

  override async run(): Promise<unknown> {
    const { args, flags } = await this.parse(OpenApi)
    const { document } = await import('../openapi/write-document.js')
    const { out, check } = flags
    const { text, difference } = await document({
      module: args.module,
      exportName: flags.export,
      image: flags.image,
      out,
      check,
    })
    if (out === undefined) this.say(text.trimEnd().split('\n'))
    if (difference !== undefined)
      throw new Failure('differs', `${out ?? ''} is not the document of ${args.module}: ${difference}`)
    return JSON.parse(text)
  }
}
