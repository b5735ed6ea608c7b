import { Flags } from '@oclif/core'
import type { Unfinished } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

const QUESTIONS = {
  applied: 'as applied, without running it: what its statements do has to be there already.',
  rolledBack: 'as not applied, and migrate up runs it from its first statement: nothing of it may be left.',
} as const

const VERIFIES = 'which compares the tables with the entities'
const STAYS_WRONG =
  'its file is the one that failed, and fails in every new database: correct it, and run ashlar migrate repair here before the next up'

export default class Resolve extends MigratingVerb {
  static override summary = 'Record a version that you put right by hand.'
  static override description = `Rarely needed: migrate up runs a dirty version again by itself. This is for a version that you finished or undid by hand. It runs nothing and compares nothing.

--applied takes a version that is dirty, or was never run. --rolled-back takes a dirty one of which nothing is left; migrate up applies it again. It asks first.`
  static override differs = 'The question was not confirmed: nothing is recorded.'
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

  protected override readonly mayChange = true

  override async run(): Promise<{ readonly version: number; readonly as: string } & OnDatabase> {
    const { flags } = await this.parse(Resolve)
    const { attempt } = await import('../../migrate/attempt.js')
    const { applied, 'rolled-back': rolledBack } = flags
    const version = applied ?? rolledBack
    if (version === undefined || (applied !== undefined && rolledBack !== undefined))
      throw new Failure('input', 'say either --applied <version> or --rolled-back <version>')
    const as = applied === undefined ? 'rolledBack' : 'applied'
    await this.migrating(flags, (migrator) => migrator.checkResolution(version, as))
    const migrator = await this.connected(flags)
    const number = String(version).padStart(4, '0')
    const states = await attempt(() => migrator.status())
    const {
      unfinished,
      error,
      isEditedSince,
      name = number,
    } = states.find((one) => one.version === version) ?? {}
    const failed = error !== undefined && unfinished?.direction !== 'down' && isEditedSince !== true
    if (!flags.yes) {
      const todo = as === 'rolledBack' ? leftText(unfinished) : doneText(unfinished)
      await this.confirm(`This records ${name} ${QUESTIONS[as]}${todo}`, 'nothing is recorded')
    }
    await this.migrating(flags, (migrator) => migrator.resolve(version, as))
    const said = as === 'applied' ? 'applied' : 'not applied'
    const { nextLine } = await import('../../migrate/lines/next-line.js')
    this.say([`${this.paint.good('recorded')} ${name} as ${said}: nothing was run`])
    if (as === 'applied') {
      if (failed) this.note([STAYS_WRONG])
      const next = await this.appliedNext(flags)
      const verify = ['verify', '--entities', 'MODULE']
      this.say([
        next === ''
          ? nextLine(verify, VERIFIES)
          : nextLine(['up'], `which applies ${next}; then ashlar migrate ${verify.join(' ')}, ${VERIFIES}`),
      ])
    } else await this.nextUp(flags)
    return this.onDatabase({ version, as })
  }
}

/** On MySQL, which statements are known to be done. */
const doneText = (unfinished: Unfinished | undefined): string =>
  unfinished?.direction === 'up' && unfinished.done > 0
    ? ` S${statementsText(1, unfinished.done).slice(1)} of ${unfinished.of} ${unfinished.done === 1 ? 'is' : 'are'} recorded as done.`
    : ''

const statementsText = (first: number, last: number): string =>
  first === last ? `statement ${first}` : `statements ${first} to ${last}`

/** What of a version is recorded as done, and is to be undone before it counts as rolled back. */
function leftText(unfinished: Unfinished | undefined): string {
  if (unfinished === undefined) return ''
  const { direction, done, of, staysApplied } = unfinished
  if (staysApplied) return ' Its rollback took nothing away: all of it is there, undo it by hand before.'
  if (direction === 'down')
    return done < of
      ? ` Of its rollback, ${statementsText(done + 1, of)} of ${of} may not be done: do that by hand before.`
      : ''
  if (done === 0) return ''
  const [are, them] = done === 1 ? ['is', 'it'] : ['are', 'them']
  return ` S${statementsText(1, done).slice(1)} ${are} recorded as done: undo ${them} by hand before.`
}
