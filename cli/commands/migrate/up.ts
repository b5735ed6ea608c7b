import { Flags } from '@oclif/core'
import type { UpResult } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { databaseFlags, timeoutFlags, versionOptions } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import type { DatabaseFlags } from '../../migrate/migrator-of.js'
import { nothingText } from '../../migrate/missing-versions.js'

export default class Up extends MigratingVerb {
  static override summary = 'Apply every version that the database lacks.'
  static override description = `Any number of hosts can run this at once: one works, the others wait and report for which host, and then find nothing left to do. Files that cannot be run are refused before anything is changed. A file that fails is undone, and the next run starts with the corrected file. MySQL commits each DDL statement by itself: there, the next run continues with the statement that failed. A backfill continues with the chunk that failed.

A file that drops a table or a column is not asked about: migrate plan shows before what is lost. Where a rollback stopped half-way, which can happen on MySQL, and what is left of it loses values, up asks before it finishes that; without a terminal it then needs --yes. It also asks before it applies, in a schema without versions, the files whose versions another schema has: --module or --schema may be missing or misspelt.

The connection must reach the database itself or a pool in session mode: a transaction pooler is refused.`
  static override differs = 'A question was not confirmed: nothing is applied.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 5',
    '<%= config.bin %> <%= command.id %> --files ./migrations --module widgets',
    '<%= config.bin %> <%= command.id %> --statement-timeout 600000',
  ]
  static override flags = {
    to: Flags.integer(versionOptions('The last version to apply. Default: all.')),
    yes: Flags.boolean({ summary: 'Confirms what it asks about, without a question.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  protected override readonly mayChange = true
  /** What this run has applied until now: it stays, whatever comes. */
  readonly #applied: string[] = []

  override async run(): Promise<UpResult & OnDatabase> {
    const { flags } = await this.parse(Up)
    await this.noteEmpty(flags)
    await this.#confirm(flags)
    const [{ appliedLines }, { wayOut, whyDirty }] = await Promise.all([
      import('../../migrate/lines/applied-lines.js'),
      import('../../migrate/views/status.js'),
    ])
    const result = await this.migrating(flags, (migrator) => migrator.up(flags.to)).catch((error) => {
      this.say(appliedLines({ applied: this.#applied }, this.paint))
      throw error
    })
    const dirty = result.dirty ?? []
    const states = dirty.length === 0 ? [] : await (await this.connected(flags)).status().catch(() => [])
    const outOf = dirty.map((name) => {
      const version = states.find((one) => one.name === name)
      const why = version === undefined ? '' : whyDirty(version)
      const out = `${name} is dirty: these files do not have it; ${wayOut(version)}`
      return `${out}${why === '' ? '' : `. What is known: ${why}`}`
    })
    this.say([
      ...appliedLines(result, this.paint),
      ...([...result.applied, ...(result.recorded ?? [])].length === 0 ? [standing(result, flags.to)] : []),
      ...result.ahead.map(
        (name) =>
          `${name} is applied and stays; these files do not have it: a newer release applied it, or its file was removed`,
      ),
    ])
    if (outOf.length > 0) throw new Failure('database', outOf.join('; '))
    if (flags.to !== undefined) await this.nextUp(flags)
    return this.onDatabase(result)
  }

  protected override async progress(): ReturnType<MigratingVerb['progress']> {
    const report = await super.progress()
    return (event) => {
      if (event.kind === 'done' && event.direction === 'up') this.#applied.push(event.version)
      report(event)
    }
  }

  /** What cannot be known is left to the run, which refuses in its own words. */
  async #confirm(
    flags: DatabaseFlags & { readonly to?: number | undefined; readonly yes: boolean },
  ): Promise<void> {
    const unless = (error: unknown) => {
      const { exit, cause } = error as Failure
      const { stop } = (cause ?? {}) as { readonly stop?: string }
      if (exit === 'interrupted' || exit === 'terminated' || stop === 'connection') throw error
      return []
    }
    const states = await this.migrating(flags, (migrator) => migrator.status()).catch(unless)
    await this.confirmPlace(await this.connected(flags), states, flags.yes)
    if (
      flags.yes ||
      states.every(({ isMissing, unfinished }) => !isMissing || unfinished?.direction !== 'down')
    )
      return
    const { finishQuestion } = await import('../../migrate/lines/losses-question.js')
    const planned = await this.migrating(flags, (migrator) => migrator.plan()).catch(unless)
    const question = finishQuestion(
      planned.filter(({ name }) => Number(name.slice(0, 4)) <= (flags.to ?? Infinity)),
    )
    if (question !== undefined) await this.confirm(question, 'nothing is applied')
  }
}

function standing({ ahead, dirty }: UpResult, to: number | undefined): string {
  const nothing = dirty === undefined ? 'nothing to do' : 'nothing is applied'
  if (to !== undefined) return `${nothing}: the schema has every version up to ${to}`
  if (dirty !== undefined && ahead.length === 0)
    return `${nothing}: the database has every version of these files`
  return nothingText(
    ahead.map((name) => ({ name, state: 'ahead', isMissing: false })),
    nothing,
  )
}
