import type { Difference, TableDifference, TableNote, VersionStatus } from '../../../lib/migrations/index.js'
import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import type { DatabaseRun, OnDatabase } from '../../migrate/database-run.js'
import type { Removed } from '../../migrate/views/verify-view.js'
import { Verb } from '../../verb/verb.js'

interface VerifyResult extends OnDatabase {
  readonly differences: readonly string[]
  /** The differences that the contract phase removes. */
  readonly left: readonly string[]
  /** The differences as values. */
  readonly details: readonly (Difference | TableDifference)[]
  /** The differences that a recorded migration should have removed. */
  readonly removed: readonly Removed[]
  /** Permitted differences of other applications' tables. */
  readonly notes: readonly TableNote[]
}

export default class Verify extends Verb {
  static override summary =
    'Compare the applied migrations with the files, and the tables with the entities; exit with 1 on a difference.'
  static override description = `Reports migrations that are missing, dirty, edited or not in these files, and INVALID indexes. With --entities it also compares the tables with the entities: columns, types, collations, NULLs, keys, unique and other indexes, stored search vectors. Each line names the next step. Changes nothing.

A table of @Resource({ existing: true }) must only meet the requirements of isolation and stored values. Any other deviation is a note, not a difference; --json lists it in notes. One note is the number of rows without a tenant.

A migration that another tool applied is accepted, because the content of its file at that time is unknown. A note names the migration; it is not a difference.`
  static override differs = 'A difference was found.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --module widgets',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js',
  ]
  static override flags = { ...databaseFlags, entities: entitiesFlag }

  override async run(): Promise<VerifyResult> {
    const { flags } = await this.parse(Verify)
    const [{ differenceText, historyText }, { comparisonOf }, { DatabaseRun }, { noteElsewhere }, view] =
      await Promise.all([
        import('../../../lib/migrations/index.js'),
        import('../../migrate/comparison-of.js'),
        import('../../migrate/database-run.js'),
        import('../../migrate/other-schemas.js'),
        import('../../migrate/views/verify-view.js'),
      ])
    const { entities } = flags
    const notes: TableNote[] = []
    const compare =
      entities === undefined ? undefined : await comparisonOf(entities, (note) => notes.push(note))
    const run = new DatabaseRun(this, flags)
    await run.noteEmpty()
    const differences = await run.read((migrator) => migrator.verify(compare))
    const versions = await run.read((migrator) => migrator.status())
    const elsewhere = await noteElsewhere(this, run, versions)
    const other = await run.read((migrator) => migrator.otherHistory())
    if (other?.isRefused === false) this.note([historyText(other, run.command)])
    this.note(view.verifyNotes({ versions, notes }))
    const removed = await removedIn(run, differences, versions)
    this.say(view.verifyLines({ differences, versions, removed, entities, elsewhere }, run.style))
    if (differences.length > 0) this.endWith('differs')
    const lines = (some: readonly (Difference | TableDifference)[]) => some.map((one) => differenceText(one))
    const left = view.leftIn({ differences, removed })
    return run.onDatabase({
      differences: lines(differences),
      left: lines(left),
      details: differences,
      removed,
      notes,
    })
  }
}

/** Returns tables and columns that are missing although an applied or recorded migration adds them. */
async function removedIn(
  { database, flags }: DatabaseRun,
  differences: readonly (Difference | TableDifference)[],
  versions: readonly VersionStatus[],
): Promise<readonly Removed[]> {
  const missing = differences.filter(
    (one): one is TableDifference => 'table' in one && ['noTable', 'addColumn'].includes(one.kind),
  )
  if (database === undefined || missing.length === 0) return []
  const { addedByVersion } = await import('../../../lib/migrations/index.js')
  const added = await addedByVersion(flags.files, database.dialect).catch(() => new Map<string, string>())
  const applied = versions.filter(({ state }) => state === 'applied')
  return missing.flatMap((difference) => {
    const table = difference.table.slice(difference.table.lastIndexOf('.') + 1)
    const name = added.get([table, ...(difference.column === undefined ? [] : [difference.column])].join('.'))
    const version = applied.find((one) => one.name === name)
    return version === undefined
      ? []
      : [{ difference, version: version.name, isRecorded: version.isRecorded }]
  })
}
