import { Flags } from '@oclif/core'
import type { ProjectCheck } from '../check/project-check.js'
import { optionalUrlFlag } from '../loading/database-url-flag.js'
import { entitiesFlag } from '../loading/entities.js'
import { defaultedPathFlag } from '../loading/path-flag.js'
import { projectOption } from '../loading/project-option.js'
import { Verb } from '../verb/verb.js'

export default class Check extends Verb {
  static override summary =
    'List what clients see of each class, and every problem that keeps the service from starting.'
  static override description = `Prints for each resource class: the fields that clients see, the properties that only code reads and writes, the columns and relations that Ashlar does not manage, and notes. With a database, it also prints how the table differs from a table that Ashlar creates: missing columns and foreign keys, types, lengths, collations.

Then it prints all problems with the classes and their relations, the method rules, the names of tables and indexes, and the registered parts of the server. The server starts only if there are no problems.

--entities alone checks the classes, and the rules in their messages' .proto files. --server also builds the server but does not start it. The module exports a ServerBuilder, a Server, or a function that returns one, named checked, builder, server or default. An export named checked must connect its DataSource first.`
  static override differs = 'A problem was found.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --url postgres://app@localhost/shop',
    '<%= config.bin %> <%= command.id %> --server dist/src/server.js --json',
  ]
  static override flags = {
    entities: entitiesFlag,
    server: defaultedPathFlag({
      summary: 'The compiled module that exports the server.',
      description: 'Default: server in the ashlar key of package.json.',
      default: () => Promise.resolve(projectOption('server')),
    }),
    export: Flags.string({
      summary: 'The name of the export, if it is not checked, builder, server or default.',
      helpValue: '<name>',
    }),
    url: optionalUrlFlag,
  }

  override async run(): Promise<ProjectCheck> {
    const { flags } = await this.parse(Check)
    const [{ projectCheck }, { problemLines, tableLines }, { withStdoutOnStderr }] = await Promise.all([
      import('../check/project-check.js'),
      import('../check/check-lines.js'),
      import('../output/stdout-on-stderr.js'),
    ])
    const { entities, server, url } = flags
    const found = await withStdoutOnStderr(() =>
      projectCheck({ entities, server, exportName: flags.export, url }),
    )
    this.say([...tableLines(found, this.paint), ...problemLines(found, this.paint)])
    if (found.problems.length > 0) this.endWith('differs')
    return found
  }
}
