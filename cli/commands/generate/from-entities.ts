import { Flags } from '@oclif/core'
import type { FromEntities as Written } from '../../from-entities/entity-resources.js'
import { folderArgument, resourceFlags, several } from '../../from-entities/resource-flags.js'
import { Verb } from '../../verb/verb.js'

export default class FromEntities extends Verb {
  static override summary = 'Write the .proto files and the registration for existing TypeORM entities.'
  static override description = `Builds the project in the folder, loads its compiled entity classes, and writes proto/<name>.proto for each class: a message with a field for each column, a service with the standard methods, and their rules. It also writes src/resources.ts, which registers the services and exports the classes for --entities, and buf.yaml and buf.gen.yaml if they are missing. It then runs buf generate, and prints the decorators to add to each class, and what was left out and why. --write adds the decorators to the sources and changes nothing else there. The command changes no table.

The command leaves out columns that may contain a secret: columns whose name contains the word password, passwd, pwd, pin, otp, token, hash, salt, secret, key, credential, private or refresh, and columns with select: false. --show includes such a column.

A second run adds what is new. Each field keeps its number. A file that was edited manually is not changed, and the new version is written next to it with the extension .new.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --tenant orgId',
    '<%= config.bin %> <%= command.id %> apps/shop --without-tenants --read-only Currency --show User.pinColor',
  ]
  static override args = { folder: folderArgument }
  static override flags = {
    tenant: Flags.string({
      summary: "The property that contains a row's tenant.",
      helpValue: '<property>',
      exclusive: ['without-tenants'],
    }),
    only: several('A class to write. Default: all classes.', '<class>'),
    ...resourceFlags,
    write: Flags.boolean({ summary: 'Add the decorators and their imports to the sources.' }),
    build: Flags.boolean({ summary: 'Run npm run build first.', default: true, allowNo: true }),
  }

  override async run(): Promise<Written> {
    const { args, flags } = await this.parse(FromEntities)
    const [{ fromEntities }, { reportLines }, { withStdoutOnStderr }] = await Promise.all([
      import('../../from-entities/entity-resources.js'),
      import('../../from-entities/entity-lines.js'),
      import('../../output/stdout-on-stderr.js'),
    ])
    const made = await withStdoutOnStderr(() =>
      fromEntities({
        ...{ folder: args.folder, tenant: flags.tenant, withoutTenants: flags['without-tenants'] },
        ...{ only: flags.only, readOnly: flags['read-only'], shared: flags.shared, show: flags.show },
        ...{ packageName: flags.package, builds: flags.build, write: flags.write },
      }),
    )
    this.say(reportLines(made, this.paint))
    this.note(made.notes)
    return made
  }
}
