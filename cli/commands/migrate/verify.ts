import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { DatabaseVerb, type OnDatabase } from '../../migrate/database-verb.js'

export default class Verify extends DatabaseVerb {
  static override summary =
    'Compare what is applied with the files, and tables with entities; exit with 1 on a difference.'
  static override description = `Reports versions that are missing, dirty, edited or not in these files, and INVALID indexes. --entities also compares the tables with the entities: columns, types, collations, NULLs, keys, unique and other indexes, stored search vectors. Each line says what to do. Changes nothing.

A version that another tool applied is accepted: the content of its file at that time is unknown. A note names it; it is no difference.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --module widgets',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js',
  ]
  static override flags = { ...databaseFlags, entities: entitiesFlag }

  override async run(): Promise<{ readonly differences: readonly string[] } & OnDatabase> {
    const { flags } = await this.parse(Verify)
    const [{ attempt }, { comparisonOf }] = await Promise.all([
      import('../../migrate/attempt.js'),
      import('../../migrate/comparison-of.js'),
    ])
    const compare = flags.entities === undefined ? undefined : await comparisonOf(flags.entities)
    const migrator = await this.connected(flags)
    await this.noteEmpty(flags)
    const { differences, versions } = await attempt(async () => ({
      differences: await migrator.verify(compare),
      versions: await migrator.status(),
    }))
    const unchecked = versions.filter(({ isChecked }) => !isChecked).map(({ name }) => name)
    if (unchecked.length > 0)
      this.note([
        `another tool applied ${unchecked.join(', ')}: an edit of a file since then would not be seen`,
      ])
    const equal =
      compare === undefined
        ? 'every version is applied, and none was edited since; --entities compares the tables, too'
        : 'the database is as the files and the entities say'
    this.say(differences.length > 0 ? differences : [this.paint.good(equal)])
    if (differences.length > 0) this.endWith('differs')
    return this.onDatabase({ differences })
  }
}
