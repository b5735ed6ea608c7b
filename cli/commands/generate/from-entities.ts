import { Flags } from '@oclif/core'
import type { FromEntities as Written } from '../../from-entities/entity-resources.js'
import { folderArgument, resourceFlags, several } from '../../from-entities/resource-flags.js'
import { Verb } from '../../verb/verb.js'

export default class FromEntities extends Verb {
  static override summary = 'Write the .proto files and the registration of existing TypeORM entities.'
  static override description = `Builds the project in the folder, loads its compiled entity classes, and writes for each of them proto/<name>.proto: a message with a field for each column, a service with the standard methods, and their rules. It also writes src/resources.ts, which registers the services, buf.yaml and buf.gen.yaml if they are missing, and runs buf generate. Then it prints the decorators to add to each class, and what was left out and why. --write adds the decorators to the sources and changes nothing else there. No table is changed.

Columns that may hold a secret are left out by their names: those with the word password, passwd, pwd, pin, otp, token, hash, salt, secret, key, credential, private or refresh, and those with select: false. --show includes one.

A second run adds what is new. A field keeps its number. A file that was edited by hand stays, and the new version is written beside it with the ending .new.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --tenant orgId',
    '<%= config.bin %> <%= command.id %> apps/shop --without-tenants --read-only Currency --show User.pinColor',
  ]
  static override args = { folder: folderArgument }
  static override flags = {
    tenant: Flags.string({
      summary: 'The property that holds the tenant of a row.',
      helpValue: '<property>',
      exclusive: ['without-tenants'],
    }),
    only: several('A class to write, if not all.', '<class>'),
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
