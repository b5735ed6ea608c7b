import { Flags } from '@oclif/core'
import type { BreakingChange } from '../../proto/breaking-changes.js'
import { Verb } from '../../verb/verb.js'

export default class Check extends Verb {
  static override summary = 'Report changes in the .proto files that break clients.'
  static override description = `Compares the .proto files in the proto folder with an earlier version by buf's WIRE_JSON rules: everything that old clients send and receive, in binary and as JSON, must keep its meaning. A field must keep its number, its name and a compatible type, and the number and name of a removed field must be reserved. The same applies to enum values.

The command also checks changes for which buf has no rule. Services, methods, and their google.api.http routes must remain. A path may become wider, and routes may be added, but the same method must answer each request of an old client, with the same body and response_body. Resources must keep their types and name patterns. A request field must not become REQUIRED, OUTPUT_ONLY, IDENTIFIER or IMMUTABLE, and a response field must not become INPUT_ONLY. Each finding states its effect on clients and what to do. Exits with 1 if a change breaks clients.

The earlier version is a branch, a tag, a commit, or an image file: npx buf build --output image.binpb. Exclusions in buf.yaml also apply.`
  static override differs = 'A breaking change was found.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --against main',
    '<%= config.bin %> <%= command.id %> --against image.binpb',
  ]
  static override flags = {
    against: Flags.string({
      summary: 'The earlier version: a branch, a tag, a commit, or an image file.',
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
