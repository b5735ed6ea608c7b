import { Flags } from '@oclif/core'
import type { BreakingChange } from '../../proto/breaking-changes.js'
import { Verb } from '../../verb/verb.js'

export default class Check extends Verb {
  static override summary = 'Say what in the .proto files would break clients.'
  static override description = `Compares the .proto files of the folder proto with an earlier version by buf's rules WIRE_JSON: what old clients send and receive, binary and as JSON, keeps its meaning. A field keeps its number, name and a compatible type, and a removed one leaves both reserved; so do the values of enums.

What buf has no rule for is compared as well. Services, methods, and their routes of google.api.http stay: a path may become wider, and more may be added, but each request of an old client is answered by the same method, with the same body and response_body. Resources keep their types, and their patterns of names. A field of a request does not become REQUIRED, OUTPUT_ONLY, IDENTIFIER or IMMUTABLE, and one of a response not INPUT_ONLY. Each finding says what it means for clients, and what to do. Exits with 1 when something breaks.

The earlier version is a branch, a tag or a commit, or the file of an image: npx buf build --output image.binpb. What buf.yaml leaves out of the rules stays out.`
  static override differs = 'A breaking change was found.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --against main',
    '<%= config.bin %> <%= command.id %> --against image.binpb',
  ]
  static override flags = {
    against: Flags.string({
      summary: 'What to compare with: a branch, a tag, a commit, or the file of an image.',
      helpValue: '<version>',
      required: true,
    }),
  }

  override async run(): Promise<{ readonly changes: readonly BreakingChange[] }> {
    const { flags } = await this.parse(Check)
    const { breakingChanges } = await import('../../proto/breaking-changes.js')
    const changes = await breakingChanges(process.cwd(), flags.against)
    this.say(
      changes.map(
        ({ path, line, rule, message }) => `${path}:${line}: ${message} ${this.paint.dim(`(${rule})`)}`,
      ),
    )
    if (changes.length > 0) this.endWith('differs')
    else this.say([`nothing breaks clients of ${flags.against}`])
    return { changes }
  }
}
