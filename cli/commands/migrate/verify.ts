import { databaseFlags } from '../../migrate/database-flags.js'
import { Verb } from '../../verb.js'

export default class Verify extends Verb {
  static override summary = 'Compare the database with the files, and exit with 1 on a difference.'
  static override description = `Versions that are missing, dirty, edited or not in these files, and indexes that are INVALID. Changes nothing.`
  static override examples = ['<%= config.bin %> <%= command.id %> --module widgets']
  static override flags = databaseFlags

  override async run(): Promise<{ readonly differences: readonly string[] }> {
    const { flags } = await this.parse(Verify)
    const [{ migratorOf }, { attempt }] = await Promise.all([
      import('../../migrate/migrator-of.js'),
      import('../../migrate/attempt.js'),
    ])
    const migrator = await migratorOf(flags)
    const differences = await attempt(() => migrator.verify())
    this.say(differences.length > 0 ? differences : [this.paint.good('the database is as the files say')])
    if (differences.length > 0) this.endWith('differs')
    return { differences }
  }
}
