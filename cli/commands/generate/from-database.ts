import { Flags } from '@oclif/core'
import type { FromDatabase as Written } from '../../from-database/database-resources.js'
import { folderArgument, resourceFlags, several } from '../../from-entities/resource-flags.js'
import { databaseUrlFlag } from '../../loading/database-url-flag.js'
import { Verb } from '../../verb/verb.js'

export default class FromDatabase extends Verb {
  static override summary = 'Write the entities, .proto files and first migration for a PostgreSQL database.'
  static override description = `Reads the catalog and changes nothing in the database. For each table with a primary key it writes src/entities/<name>.ts: a TypeORM class with the columns, keys, foreign keys, checks, indexes, enums, defaults, identity and generated columns. From these classes it writes what generate from-entities writes: proto/<name>.proto, src/resources.ts, and buf.yaml and buf.gen.yaml if they are missing; then it runs buf generate. It also writes the next migration, which creates the tables in an empty database.

The command leaves out views, partitions, tables without a primary key, other tools' tables, and, like generate from-entities, columns that may contain a secret. A table without the tenant column gets a class but no resource, unless --shared names the class. The report lists what was left out and why, and the effects of triggers.

A second run adds what is new. Each field keeps its number. A file that was edited manually is not changed, and the new version is written next to it with the extension .new.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --tenant-column account_id --shared Currency',
    '<%= config.bin %> <%= command.id %> --schema public --schema billing --without-tenants --read-only Currency',
  ]
  static override args = { folder: folderArgument }
  static override flags = {
    url: databaseUrlFlag,
    schema: several('A schema to read. Default: all schemas.', '<name>'),
    tables: several('A table to read, such as orders or billing.invoices. Default: all tables.', '<name>'),
    'tenant-column': Flags.string({
      summary: "The column that contains a row's tenant.",
      helpValue: '<name>',
      exclusive: ['without-tenants'],
    }),
    ...resourceFlags,
  }

  override async run(): Promise<Written> {
    const { args, flags } = await this.parse(FromDatabase)
    const [{ fromDatabase }, { databaseLines }, { withStdoutOnStderr }] = await Promise.all([
      import('../../from-database/database-resources.js'),
      import('../../from-database/database-lines.js'),
      import('../../output/stdout-on-stderr.js'),
    ])
    const made = await withStdoutOnStderr(() =>
      fromDatabase({
        ...{ folder: args.folder, url: flags.url, schemas: flags.schema, tables: flags.tables },
        ...{ tenantColumn: flags['tenant-column'], withoutTenants: flags['without-tenants'] },
        ...{ readOnly: flags['read-only'], shared: flags.shared, show: flags.show },
        packageName: flags.package,
      }),
    )
    this.say(databaseLines(made, this.paint))
    this.note(made.notes)
    return made
  }
}
