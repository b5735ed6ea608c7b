import { Flags } from '@oclif/core'
import type { BaselineResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

const TAKE_BACK =
  'to take a record back, delete its row of ashlar_migrations: ashlar migrate down would run its way down, which drops what is there'

export default class Baseline extends MigratingVerb {
  static override summary = 'Record versions as applied without running their files.'
  static override description = `For a database that has what the files up to --to make, because another tool or a person made it. The files are recorded with their checksums. The framework's own tables of 0001 are made where they are missing. A database in which a version of the module ran already is refused.

Nothing compares the files with the database: run migrate verify --entities afterwards.`
  static override examples = ['<%= config.bin %> <%= command.id %> --to 2']
  static override flags = {
    to: Flags.integer({ ...versionOptions('The last version that the database has.'), required: true }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<BaselineResult & OnDatabase> {
    const { flags } = await this.parse(Baseline)
    const result = await this.migrating(flags, (migrator) => migrator.baseline(flags.to))
    const [{ nextLine, UNCOMPARED }, { recordedLines }] = await Promise.all([
      import('../../migrate/lines/next-line.js'),
      import('../../migrate/lines/recorded-lines.js'),
    ])
    this.note(result.recorded.length === 0 ? [] : [TAKE_BACK])
    this.say([...recordedLines(result, this.paint), nextLine(['up'], UNCOMPARED)])
    return this.onDatabase(result)
  }
}
