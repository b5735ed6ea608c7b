import type { Dialect } from '../../../lib/migrations/index.js'
import { shellWord } from '../../../lib/text/shell-word.js'
import { Failure } from '../../errors/failure.js'
import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags, scratchFlag } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import type { FolderFinding } from '../../migrate/lint-folder.js'
import type { DatabaseFlags } from '../../migrate/migrator-of.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import { terminalLine } from '../../output/terminal-line.js'

const LONGEST_SQL = 200

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

interface CheckFlags extends DatabaseFlags {
  readonly entities?: string | undefined
  readonly scratch?: string | undefined
}

export default class Check extends MigratingVerb {
  static override summary = 'Check the files in one command, for continuous integration.'
  static override description = `The numbers have no gaps. Lint finds nothing dangerous, for every engine. In a scratch database on the server of --url, each version is applied, rolled back and applied a second time, and leaves nothing behind. With --entities, the files make what the entities need: migrate diff would write nothing. What is left for the contract is a note, and no fault. The database of --url itself is not changed.

A way down that has only a comment says why nothing is undone, and is not tried. Run it once for each engine. Exits with 1 on any finding, also where a file fails in the scratch database; with 2 for files that cannot be read as versions; and with 6 where the server cannot be reached or makes no scratch database.`
  static override differs = 'A finding, also of a file that fails.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --scratch postgres://localhost/scratch',
  ]
  static override flags = { ...databaseFlags, entities: entitiesFlag, scratch: scratchFlag }

  override async run(): Promise<Checked> {
    const { flags } = await this.parse(Check)
    const [{ lintFolder }, { findingLines }, { checkHeading }, { connectionString }, { emptyFolder }] =
      await Promise.all([
        import('../../migrate/lint-folder.js'),
        import('../../migrate/lines/finding-lines.js'),
        import('../../migrate/headings.js'),
        import('../../migrate/connection-string.js'),
        import('../../migrate/next-files.js'),
      ])
    this.heading = await checkHeading(flags)
    const scratch =
      flags.scratch === undefined ? undefined : await connectionString(flags.scratch, 'ASHLAR_SCRATCH_URL')
    const findings = await lintFolder(flags.files, undefined)
    const { dialect } = (await this.connected(flags)).database ?? {}
    const empty = dialect && emptyFolder(flags.files, dialect)
    if (findings.length > 0 || empty === undefined) this.say(findingLines(findings, this.paint))
    if (findings.some(({ level }) => level === 'refuse')) {
      this.say([this.paint.bad('no version is tried and nothing is compared, because lint refuses a file')])
      this.endWith('differs')
      return this.onDatabase({ findings, downs: [], missing: [], left: [], byHand: [] })
    }
    const downs = await this.migrating(flags, (migrator) => migrator.tryDowns(scratch))
    const tried =
      empty === undefined
        ? `every version goes up, down and up again${await this.#untried(flags, dialect)}`
        : `no version to check: ${empty} has no .sql file`
    this.say(downs.length > 0 ? downs.map((line) => this.paint.bad(line)) : [this.paint.good(tried)])
    const compared = await this.#compared(flags, downs.length > 0)
    if (findings.some(({ level }) => level !== 'advice') || downs.length > 0) this.endWith('differs')
    return this.onDatabase({ findings, downs, ...compared })
  }

  /** Which versions were not rolled back, because they have only a comment for that; empty for none. */
  async #untried({ files }: DatabaseFlags, dialect: Dialect | undefined): Promise<string> {
    if (dialect === undefined) return ''
    const [{ withoutWayDown }, { namesText }] = await Promise.all([
      import('../../../lib/migrations/index.js'),
      import('../../migrate/lines/names-text.js'),
    ])
    const found = await withoutWayDown(files, dialect)
    if (found.length === 0) return ''
    const ways =
      found.length === 1
        ? 'its way down has no statement, and is'
        : 'their ways down have no statement, and are'
    return `, but for ${namesText(found)}: ${ways} not tried`
  }

  /** Compares the files with the entities, and says what differs. */
  async #compared(
    flags: CheckFlags,
    mayFail: boolean,
  ): Promise<Pick<Checked, 'missing' | 'left' | 'byHand'>> {
    const nothing = { missing: [], left: [], byHand: [] }
    const { entities } = flags
    if (entities === undefined) return nothing
    const { schemaChanges } = await import('../../migrate/schema-versions.js')
    const result = await this.migrating(flags, (migrator) =>
      schemaChanges(migrator, { ...flags, entities, live: false }),
    ).catch((error: unknown) => {
      if (mayFail && isFaultOfFile(error)) return undefined
      throw error
    })
    if (result === undefined) {
      this.say([this.paint.bad('the entities are not compared, because the files do not all go up')])
      return nothing
    }
    const { expand, left, byHand } = result.changes
    const missing = expand.map(({ what }) => what)
    const lacking = expand.map(({ up }) => terminalLine(up.replaceAll(/^--.*$/gm, ''), LONGEST_SQL))
    const more = left.length === 0 ? '' : '; what is left for the contract is noted, and no fault'
    const isEqual = missing.length + byHand.length === 0
    this.say([
      ...lacking.map((one) => `${this.paint.bad('missing')}: no version makes this yet: ${one}`),
      ...byHand.map((line) => `${this.paint.bad('missing')} ${line}`),
      ...(isEqual ? [this.paint.good(`the files make what the entities need${more}`)] : []),
    ])
    this.note(left.map((line) => `left for the contract, once no process with older code runs: ${line}`))
    if (missing.length > 0) {
      const { nextLine } = await import('../../migrate/lines/next-line.js')
      this.say([nextLine(['diff', 'NAME', '--entities', shellWord(entities)])])
    }
    if (!isEqual) this.endWith('differs')
    return { missing, left, byHand }
  }
}

const isFaultOfFile = (error: unknown): boolean =>
  error instanceof Failure && (error.cause as { readonly stop?: unknown } | undefined)?.stop === 'failed'
