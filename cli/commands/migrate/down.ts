import { Flags } from '@oclif/core'
import type { DownResult } from '../../../lib/migrations/index.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import type { DatabaseFlags } from '../../migrate/migrator-of.js'

export default class Down extends MigratingVerb {
  static override summary = 'Roll back the last version, or every version above the given one.'
  static override description = `The last applied version is rolled back first. When this image lacks the SQL of a version, the copy in the database is used. Nothing rolls back by itself: an older image does not change a newer schema. The framework's own versions stay, unless --to is 0 or one of them.

It asks first when a way down drops a table or a column, or deletes rows, and says which; when what a version wrote stays and would be written a second time; and before --to 0, because that also drops the framework's own tables. Without a terminal it needs --yes. What a way up took away, such as a dropped column, comes back without its values: it says so before and after.`
  static override differs = 'The question was not confirmed: nothing is changed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 5 --yes',
    '<%= config.bin %> <%= command.id %> --to 0 --yes --module widgets',
  ]
  static override flags = {
    to: Flags.integer(
      versionOptions(
        'The highest version to keep; 0 rolls everything back. Default: all but the last applied.',
        0,
      ),
    ),
    yes: Flags.boolean({ summary: 'Confirms what is lost without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  protected override readonly mayChange = true

  override async run(): Promise<DownResult & OnDatabase> {
    const { flags } = await this.parse(Down)
    const {
      contractLines,
      lossesQuestion,
      orderLines,
      recordAgainLines,
      refillLines,
      staysLostLines,
      staysDoneLines,
    } = await import('../../migrate/lines/losses-question.js')
    const rollBacks = await this.migrating(flags, (migrator) => migrator.rollBacks(flags.to))
    this.note([
      ...(flags.to === undefined ? orderLines(rollBacks) : []),
      ...staysLostLines(rollBacks),
      ...refillLines(rollBacks),
      ...staysDoneLines(rollBacks),
    ])
    const question = lossesQuestion(rollBacks, flags.to === 0)
    if (question !== undefined) await this.confirmLoss(question, flags.yes)
    const result = await this.migrating(flags, (migrator) => migrator.down(flags.to))
    const done = rollBacks.filter(({ name }) => result.rolledBack.includes(name))
    this.say([
      ...result.rolledBack.map((name) => `${this.paint.good('rolled back')} ${name}`),
      ...staysLostLines(done),
      ...refillLines(done),
      ...(flags.to === undefined ? contractLines(done) : []),
      ...(flags.to === 0 ? staysDoneLines(done) : recordAgainLines(done)),
      ...(result.rolledBack.length === 0 ? [await this.#nothingToDo(flags)] : []),
    ])
    if (result.rolledBack.length > 0 && flags.to !== 0) await this.#sayPending(flags, result)
    return this.onDatabase(result)
  }

  /** It is no advice: the next deployment does it, wanted or not. */
  async #sayPending(flags: DatabaseFlags, { rolledBack }: DownResult): Promise<void> {
    const { namesText } = await import('../../migrate/lines/names-text.js')
    const pending = await this.planned(flags)
    if (pending.length === 0) return
    const [are, them] = pending.length === 1 ? ['is', 'it'] : ['are', 'them']
    const again = pending.every((name) => rolledBack.includes(name)) ? ' again' : ''
    this.say([
      `${namesText(pending)} ${are} pending: the next ashlar migrate up, also that of a deployment with these files, applies ${them}${again}`,
    ])
  }

  async #nothingToDo(flags: DatabaseFlags & { readonly to?: number | undefined }): Promise<string> {
    const versions = await this.migrating(flags, (migrator) => migrator.status())
    await this.noteElsewhere(await this.connected(flags), versions)
    if (versions.every(({ state }) => state === 'pending')) return 'nothing to do: no version is applied'
    return flags.to === undefined
      ? 'nothing to do: only the framework’s own versions are applied; --to 0 rolls them back'
      : `nothing to do: no version of the module above ${String(flags.to).padStart(4, '0')} is applied`
  }
}
