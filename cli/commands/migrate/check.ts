import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags, scratchFlag } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import type { FolderFinding } from '../../migrate/lint-folder.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

interface Checked extends OnDatabase {
  readonly findings: readonly FolderFinding[]
  /** What does not come back when versions are rolled back. */
  readonly downs: readonly string[]
  /** Versions that would bring the tables to what the entities say. */
  readonly missing: readonly string[]
  /** What the contract is for. */
  readonly left: readonly string[]
  readonly byHand: readonly string[]
}

export default class Check extends MigratingVerb {
  static override summary = 'Check the files in one command, for continuous integration.'
  static override description = `The numbers have no gaps; lint finds nothing dangerous, for every engine; in a scratch database on the server of --url each version is applied, rolled back, and applied again, and leaves nothing behind. With --entities, migrate diff would write nothing; what is left for the contract is a note. The database of --url itself is not touched.

A way down that has only a comment says why nothing is undone, and is not tried. Run it once for each engine. Exits with 1 on any finding, with 2 for files that cannot be used, and with 6 when a statement fails in the scratch database.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --scratch postgres://localhost/scratch',
  ]
  static override flags = { ...databaseFlags, entities: entitiesFlag, scratch: scratchFlag }

  override async run(): Promise<Checked> {
    const { flags } = await this.parse(Check)
    const [{ lintFolder }, { findingLines }, { connectionString }] = await Promise.all([
      import('../../migrate/lint-folder.js'),
      import('../../migrate/lines/finding-lines.js'),
      import('../../migrate/connection-string.js'),
    ])
    const findings = await lintFolder(flags.files, undefined)
    await this.noteEmpty(flags)
    const scratch = flags.scratch === undefined ? undefined : await connectionString(flags.scratch)
    const downs = await this.migrating(flags, (migrator) => migrator.tryDowns(scratch))
    const { missing, left, byHand } = await this.#differences(flags)
    this.say([
      ...findingLines(findings, this.paint),
      ...(downs.length === 0 ? [this.paint.good('every version goes up, down and up again')] : downs),
      ...missing.map((one) => `${this.paint.bad('missing')} a version that does: ${one}`),
      ...byHand.map((line) => `${this.paint.bad('missing')} ${line}`),
      ...(flags.entities === undefined || missing.length + byHand.length > 0
        ? []
        : [this.paint.good('the files make what the entities say')]),
    ])
    this.note(left.map((line) => `left for the contract: ${line}`))
    const isBad = findings.some(({ level }) => level !== 'advice')
    if (isBad || downs.length + missing.length + byHand.length > 0) this.endWith('differs')
    return this.onDatabase({ findings, downs, missing, left, byHand })
  }

  async #differences(
    flags: Parameters<MigratingVerb['migrating']>[0] & {
      readonly files: string
      readonly entities?: string | undefined
      readonly scratch?: string | undefined
    },
  ): Promise<Pick<Checked, 'missing' | 'left' | 'byHand'>> {
    const { entities } = flags
    if (entities === undefined) return { missing: [], left: [], byHand: [] }
    const { schemaChanges } = await import('../../migrate/schema-versions.js')
    const { changes } = await this.migrating(flags, (migrator) =>
      schemaChanges(migrator, { ...flags, entities, live: false }),
    )
    const { expand, left, byHand } = changes
    return { missing: expand.map(({ what }) => what), left, byHand }
  }
}
