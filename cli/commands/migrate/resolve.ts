import { Flags } from '@oclif/core'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Resolve extends Verb {
  static override summary = 'Record a migration that you fixed manually.'
  static override description = `Rarely needed: migrate up runs a dirty migration again automatically. This command is for a migration that you finished or undid manually. It runs nothing and compares nothing.

--applied accepts a migration that is dirty or was never run. --rolled-back accepts a dirty migration that you have undone completely; migrate up applies it again. The command asks first.`
  static override differs = 'The question was not confirmed: nothing is recorded.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --applied 7',
    '<%= config.bin %> <%= command.id %> --rolled-back 7 --yes',
  ]
  static override flags = {
    applied: Flags.integer(versionOptions('The migration that you have finished.')),
    'rolled-back': Flags.integer(versionOptions('The migration that you have undone completely.')),
    yes: Flags.boolean({ summary: 'Confirm without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<{ readonly version: number; readonly as: string } & OnDatabase> {
    const { flags } = await this.parse(Resolve)
    const { applied, 'rolled-back': rolledBack } = flags
    const version = applied ?? rolledBack
    if (version === undefined || (applied !== undefined && rolledBack !== undefined))
      throw new Failure('input', 'pass either --applied <migration> or --rolled-back <migration>')
    const as = applied === undefined ? 'rolledBack' : 'applied'
    const [{ DatabaseRun }, { resolveLines, resolveNotes, resolveQuestion }] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/views/resolve-view.js'),
    ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    await run.change((migrator) => migrator.checkResolution(version, as))
    const states = await run.read((migrator) => migrator.status())
    const resolved = { version, as, status: states.find((one) => one.version === version) } as const
    if (!flags.yes) await run.confirm(resolveQuestion(resolved), 'nothing is recorded')
    await run.change((migrator) => migrator.resolve(version, as))
    this.note(resolveNotes(resolved, run.style))
    this.say(resolveLines({ ...resolved, next: await run.planned() }, run.style))
    return run.onDatabase({ version, as })
  }
}
