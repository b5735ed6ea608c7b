import { Flags } from '@oclif/core'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

const QUESTIONS = {
  applied: 'is recorded as applied, and none of its statements runs: what they do has to be there already.',
  rolledBack:
    'is recorded as not applied, and migrate up runs it from its first statement: nothing of it is left.',
} as const

const VERIFIES = 'which compares the tables with the entities'

export default class Resolve extends MigratingVerb {
  static override summary = 'Record a version that you put right by hand.'
  static override description = `Rarely needed: migrate up runs a dirty version again by itself. This is for a version that you finished or undid by hand. It runs nothing and compares nothing.

--applied takes a version that is dirty, or was never run. --rolled-back takes a dirty one of which nothing is left; migrate up applies it again. It asks first.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --applied 7',
    '<%= config.bin %> <%= command.id %> --rolled-back 7 --yes',
  ]
  static override flags = {
    applied: Flags.integer(versionOptions('The version whose work is done.')),
    'rolled-back': Flags.integer(versionOptions('The version of which nothing is left.')),
    yes: Flags.boolean({ summary: 'Confirms it without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<{ readonly version: number; readonly as: string } & OnDatabase> {
    const { flags } = await this.parse(Resolve)
    const { applied, 'rolled-back': rolledBack } = flags
    const version = applied ?? rolledBack
    if (version === undefined || (applied !== undefined && rolledBack !== undefined))
      throw new Failure('input', 'say either --applied <version> or --rolled-back <version>')
    const as = applied === undefined ? 'rolledBack' : 'applied'
    await this.migrating(flags, (migrator) => migrator.checkResolution(version, as))
    const number = String(version).padStart(4, '0')
    if (!flags.yes) await this.confirm(`Version ${number} ${QUESTIONS[as]}`, 'nothing is recorded')
    await this.migrating(flags, (migrator) => migrator.resolve(version, as))
    const said = as === 'applied' ? 'applied' : 'not applied'
    const { nextLine } = await import('../../migrate/lines/next-line.js')
    this.say([`${this.paint.good('recorded')} ${number} as ${said}`])
    if (as === 'applied') {
      const next = await this.appliedNext(flags)
      const then = next === '' ? '' : `; ashlar migrate up then applies ${next}`
      this.say([nextLine(['verify', '--entities', 'MODULE'], VERIFIES + then)])
    } else await this.nextUp(flags)
    return this.onDatabase({ version, as })
  }
}
