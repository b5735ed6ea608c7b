import { Flags } from '@oclif/core'
import type { RunFacts, UpResult } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { DatabaseRun, OnDatabase } from '../../migrate/database-run.js'
import { Verb } from '../../verb/verb.js'

export default class Up extends Verb {
  static override summary = 'Apply every pending migration.'
  static override description = `Any number of hosts can run this at once. One host applies the migrations. The others wait, print the name of that host, and then exit because the schema is up to date. Files that cannot be run are rejected before anything is changed. A file that fails is undone, and the next run starts with the corrected file. On MySQL, which commits each DDL statement separately, the next run continues with the failed statement. A backfill continues with the failed chunk.

The command does not ask about a file that drops a table or a column: run migrate plan first to see what is lost. If a rollback stopped half-way, which can happen on MySQL, and finishing it loses values, up asks first; without a terminal it then needs --yes. It also asks before it applies files to a schema without migrations if another schema already has these migrations: --module or --schema may be missing or misspelt.

The connection must reach the database itself or a pool in session mode: a transaction pooler is rejected.`
  static override differs = 'A question was not confirmed: nothing is applied.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 5',
    '<%= config.bin %> <%= command.id %> --files ./migrations --module widgets',
    '<%= config.bin %> <%= command.id %> --statement-timeout 600000',
  ]
  static override flags = {
    to: Flags.integer(versionOptions('The last migration to apply. Default: all.')),
    yes: Flags.boolean({ summary: 'Confirm every question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<UpResult & OnDatabase> {
    const { flags } = await this.parse(Up)
    const [{ DatabaseRun }, { confirmSchema }, { appliedLines, dirtyFailure, finishQuestion, upLines }] =
      await Promise.all([
        import('../../migrate/database-run.js'),
        import('../../migrate/other-schemas.js'),
        import('../../migrate/views/up-view.js'),
      ])
    const run = new DatabaseRun(this, flags, { mayChange: true })
    await run.noteEmpty()
    const states = await run.change((migrator) => migrator.status()).catch(unlessEnded)
    await confirmSchema(this, run, states, flags.yes)
    const isHalfBack = states.some(
      ({ isMissing, unfinished }) => isMissing && unfinished?.direction === 'down',
    )
    if (!flags.yes && isHalfBack) {
      const { to = Infinity } = flags
      const planned = await run.change((migrator) => migrator.plan()).catch(unlessEnded)
      const question = finishQuestion(planned.filter(({ version }) => version <= to))
      if (question !== undefined) await run.confirm(question, 'nothing is applied')
    }
    const result = await run
      .change((migrator) => migrator.up(flags.to))
      .catch((error: unknown) => {
        // Applied migrations are reported even if a later one failed.
        const { applied = [] } = (error instanceof Failure ? error.facts : {}) as Partial<RunFacts>
        this.say(appliedLines({ applied }, run.style))
        throw error
      })
    const { dirty = [] } = result
    const next = dirty.length === 0 && flags.to !== undefined ? await run.planned() : []
    this.say(upLines({ result, to: flags.to, next }, run.style))
    if (dirty.length > 0)
      throw new Failure('database', dirtyFailure(dirty, await statesOf(run), run.command), { facts: result })
    return run.onDatabase(result)
  }
}

/** Returns an empty list. If the state is unknown, the run decides and reports its own error. */
function unlessEnded(error: unknown): readonly never[] {
  const { exit, cause } = error as Failure
  const { stop } = (cause ?? {}) as { readonly stop?: string }
  if (exit === 'interrupted' || exit === 'terminated' || stop === 'connection') throw error
  return []
}

const statesOf = async (run: DatabaseRun) => (await run.connect()).status().catch(() => [])
