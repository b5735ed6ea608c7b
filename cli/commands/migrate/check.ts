import type { TableDifference, TriedDown } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags, scratchFlag } from '../../migrate/database-flags.js'
import type { DatabaseRun, OnDatabase } from '../../migrate/database-run.js'
import type { FolderFinding } from '../../migrate/lint-folder.js'
import type { Checked } from '../../migrate/views/check-view.js'
import { Verb } from '../../verb/verb.js'

interface CheckResult extends OnDatabase {
  readonly findings: readonly FolderFinding[]
  /** The objects that are not restored when migrations are rolled back. */
  readonly downs: readonly string[]
  /** Migrations that were not rolled back, because their down file contains only a comment. */
  readonly untried: readonly string[]
  /** Migrations that would make the tables match the entities. */
  readonly missing: readonly string[]
  /** The differences that the contract phase removes. */
  readonly left: readonly string[]
  readonly byHand: readonly string[]
  /** The findings as values. */
  readonly details: {
    readonly downs: readonly TriedDown[]
    readonly left: readonly TableDifference[]
    readonly byHand: readonly TableDifference[]
  }
}

export default class Check extends Verb {
  static override summary = 'Check the files in one command, for continuous integration.'
  static override description = `Checks that the numbers have no gaps and that lint finds nothing dangerous, for every engine. In a scratch database on the server of --url, each migration is applied, rolled back and applied again, and must leave nothing behind. With --entities, the files must create everything that the entities require, so that migrate diff would write nothing. A change left for the contract phase is a note, not a finding. The database of --url itself is not changed.

A down migration that contains only a comment is not tried. Run the command once for each engine.

Exits with 1 on any finding, including a file that fails in the scratch database. Exits with 2 if the files cannot be read as migrations. Exits with 6 if the server cannot be reached or does not allow a scratch database.`
  static override differs = 'The check found a problem, including a file that fails.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --scratch postgres://localhost/scratch',
  ]
  static override flags = { ...databaseFlags, entities: entitiesFlag, scratch: scratchFlag }

  override async run(): Promise<CheckResult> {
    const { flags } = await this.parse(Check)
    const [
      { triedDownText, withoutWayDown: withoutDownMigration },
      { connectionString },
      { DatabaseRun },
      { checkHeading },
      { lintFolder },
      { emptyFolder },
      view,
    ] = await Promise.all([
      import('../../../lib/migrations/index.js'),
      import('../../migrate/connection-string.js'),
      import('../../migrate/database-run.js'),
      import('../../migrate/headings.js'),
      import('../../migrate/lint-folder.js'),
      import('../../migrate/next-files.js'),
      import('../../migrate/views/check-view.js'),
    ])
    const run = new DatabaseRun(this, flags, { heading: await checkHeading(flags) })
    const scratch =
      flags.scratch === undefined ? undefined : await connectionString(flags.scratch, 'ASHLAR_SCRATCH_URL')
    const { dialect } = (await run.connect()).database ?? {}
    const findings = await lintFolder(flags.files, undefined, run.reporter)
    const empty = dialect && emptyFolder(flags.files, dialect)
    this.say(view.checkedFindings({ findings, empty }, run.style))
    const isRefused = findings.some(({ level }) => level === 'refuse')
    const downs = isRefused ? undefined : await run.change((migrator) => migrator.tryDowns(scratch))
    const untried = dialect && downs?.length === 0 ? await withoutDownMigration(flags.files, dialect) : []
    const compared =
      downs === undefined || flags.entities === undefined
        ? undefined
        : await compare(run, { ...flags, entities: flags.entities }, downs.length > 0)
    const checked = { empty, downs, untried, compared }
    this.say(view.checkLines(checked, run.style))
    this.note(view.checkNotes(checked, run.style))
    const { tableDifferenceText } = await import('../../../lib/text/table-difference.js')
    const { missing = [], left = [], byHand = [] } = typeof compared === 'object' ? compared : {}
    const isFault = ({ level }: FolderFinding) => level !== 'advice'
    if (findings.some(isFault) || downs?.length !== 0 || missing.length + byHand.length > 0)
      this.endWith('differs')
    return run.onDatabase({
      findings,
      downs: (downs ?? []).map((one) => triedDownText(one)),
      untried,
      missing: missing.map(({ what }) => what),
      left: left.map((one) => tableDifferenceText(one, true)),
      byHand: byHand.map((one) => tableDifferenceText(one, true)),
      details: { downs: downs ?? [], left, byHand },
    })
  }
}

/**
 * Compares the files with the entities.
 * @param mayFail - true if a migration is already known to fail.
 */
async function compare(
  run: DatabaseRun,
  flags: { readonly entities: string; readonly scratch?: string | undefined },
  mayFail: boolean,
): Promise<Checked['compared']> {
  const { schemaChanges } = await import('../../migrate/schema-versions.js')
  try {
    const { changes } = await run.change((migrator) => schemaChanges(migrator, { ...flags, live: false }))
    const { expand, left, byHand } = changes
    return { entities: flags.entities, missing: expand, left, byHand }
  } catch (error) {
    const { stop } = ((error as Failure).cause ?? {}) as { readonly stop?: unknown }
    if (mayFail && error instanceof Failure && stop === 'failed') return 'failed'
    throw error
  }
}
