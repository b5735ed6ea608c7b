import { Flags } from '@oclif/core'
import type { DownResult, UpResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

export default class Redo extends MigratingVerb {
  static override summary = 'Roll back the last version and apply it again.'
  static override description = `For the version that you are writing: edit its file, and run this. The way down that was stored when it was applied is used, if its way up was edited.

It asks first when the way down loses values, like migrate down. Without a terminal it then needs --yes.`
  static override differs = 'The question was not confirmed: nothing is changed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --yes',
  ]
  static override flags = {
    yes: Flags.boolean({ summary: 'Confirms what is lost without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  protected override readonly mayChange = true

  override async run(): Promise<DownResult & UpResult & OnDatabase> {
    const { flags } = await this.parse(Redo)
    const [{ lossesQuestion, refillLines, staysDoneLines, staysLostLines }, { appliedLines }] =
      await Promise.all([
        import('../../migrate/lines/losses-question.js'),
        import('../../migrate/lines/applied-lines.js'),
      ])
    const rollBacks = await this.migrating(flags, (migrator) => migrator.checkRedo())
    this.note([...staysLostLines(rollBacks), ...refillLines(rollBacks), ...staysDoneLines(rollBacks)])
    const pending = await this.appliedNext(flags)
    const stays = pending === '' ? '' : `; ${pending} ${pending.includes(',') ? 'stay' : 'stays'} pending`
    const question = lossesQuestion(rollBacks, false, `, and applies it again, as its file is now${stays}`)
    if (question !== undefined) await this.confirmLoss(question, flags.yes)
    const result = await this.migrating(flags, (migrator) => migrator.redo())
    if (result.rolledBack.length === 0) await this.noteElsewhere(await this.connected(flags), [])
    this.say([
      ...result.rolledBack.map((name) => `${this.paint.good('rolled back')} ${name}`),
      ...appliedLines(result, this.paint),
      ...(result.rolledBack.length === 0 ? ['nothing to do: no version of the module is applied'] : []),
    ])
    await this.nextUp(flags)
    return this.onDatabase(result)
  }
}
