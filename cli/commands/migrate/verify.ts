import type { Migrator, SchemaComparison, VersionStatus } from '../../../lib/migrations/index.js'
import { shellWord } from '../../../lib/text/shell-word.js'
import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags } from '../../migrate/database-flags.js'
import { DatabaseVerb, type OnDatabase } from '../../migrate/database-verb.js'

const BY_HAND =
  'which writes or names what is to be done; where it does neither, the database was changed by hand: with --live it says how to bring it back'
const ONLY_LEFT = 'nothing differs but what is left for the contract:'
const LEFT = 'left for the contract:'

/** What `verify` says of a table or column that is not there. */
const MISSING = /^(\S+) is missing: ashlar migrate diff NAME writes the file for it/

const recordedText = (name: string): string =>
  `${name} makes it: that version is only recorded as applied, and no run of its file has succeeded here. ashlar migrate diff NAME --live says how to make it by hand`

const removedText = (name: string): string =>
  `${name} makes it and is applied: it was removed by hand, or by a later version. ashlar migrate diff NAME --live says how to bring it back, where it was by hand`

/** Of a schema that may be the wrong one. */
const withoutUp = (difference: string): string => difference.replace(/: run ashlar migrate up$/, '')

/** Whether all that is left to do for a difference is in the contract. */
const isContract = (difference: string): boolean =>
  difference.includes('ashlar migrate diff NAME --contract') &&
  !difference.includes('ashlar migrate diff NAME writes')

interface Verified extends OnDatabase {
  readonly differences: readonly string[]
  /** Those among them that wait for the contract. */
  readonly left: readonly string[]
}

export default class Verify extends DatabaseVerb {
  static override summary =
    'Compare what is applied with the files, and tables with entities; exit with 1 on a difference.'
  static override description = `Reports versions that are missing, dirty, edited or not in these files, and INVALID indexes. --entities also compares the tables with the entities: columns, types, collations, NULLs, keys, unique and other indexes, stored search vectors. Each line says what to do. Changes nothing.

A version that another tool applied is accepted: the content of its file at that time is unknown. A note names it; it is no difference.`
  static override differs = 'A difference was found.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --module widgets',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js',
  ]
  static override flags = { ...databaseFlags, entities: entitiesFlag }

  override async run(): Promise<Verified> {
    const { flags } = await this.parse(Verify)
    const [{ attempt }, { comparisonOf }] = await Promise.all([
      import('../../migrate/attempt.js'),
      import('../../migrate/comparison-of.js'),
    ])
    const comparison = flags.entities === undefined ? undefined : await comparisonOf(flags.entities)
    let ofTables: readonly string[] = []
    const compare: SchemaComparison | undefined =
      comparison && (async (live) => (ofTables = await comparison(live)))
    const migrator = await this.connected(flags)
    await this.noteEmpty(flags)
    const { differences, versions } = await attempt(async () => ({
      differences: await migrator.verify(compare),
      versions: await migrator.status(),
    }))
    const elsewhere = await this.noteElsewhere(migrator, versions)
    const other = await attempt(() => migrator.otherHistory())
    if (other?.isRefused === false) this.note([other.text])
    const unchecked = versions.filter(({ isChecked }) => !isChecked).map(({ name }) => name)
    if (unchecked.length > 0)
      this.note([
        `another tool applied ${unchecked.join(', ')}: an edit of a file since then would not be seen`,
      ])
    const equal =
      compare === undefined
        ? 'every version is applied, and none was edited since; --entities compares the tables, too'
        : 'the versions are those of the files, and the tables are as the entities say'
    const byHand = ofTables.length === 0 ? [] : await this.#removedByHand(migrator, versions, ofTables, flags)
    const lines = differences.map((difference) => {
      const removed = byHand.find((one) => one.difference === difference)
      return removed?.text ?? (elsewhere === undefined ? difference : withoutUp(difference))
    })
    const left = lines.filter((line) => ofTables.includes(line) && isContract(line))
    const others = lines.filter((line) => !left.includes(line))
    const heading = this.paint.warn(others.length === 0 ? ONLY_LEFT : LEFT)
    this.say(
      lines.length > 0
        ? [...others, ...(left.length > 0 ? [heading, ...left] : [])]
        : [this.paint.good(equal)],
    )
    if (elsewhere !== undefined) this.say([elsewhere])
    if (ofTables.length > 0 && elsewhere === undefined)
      this.say([await this.#nextOf(versions, ofTables.every(isContract), byHand.length > 0, flags.entities)])
    if (differences.length > 0) this.endWith('differs')
    return this.onDatabase({ differences, left })
  }

  /** Tables and columns that are missing although a version that is applied or recorded adds them. */
  async #removedByHand(
    migrator: Migrator,
    versions: readonly VersionStatus[],
    differences: readonly string[],
    { files }: { readonly files: string },
  ): Promise<readonly { readonly difference: string; readonly text: string }[]> {
    const { dialect } = migrator.database ?? {}
    if (dialect === undefined || !differences.some((line) => MISSING.test(line))) return []
    const { addedByVersion } = await import('../../../lib/migrations/index.js')
    const added = await addedByVersion(files, dialect).catch(() => new Map<string, string>())
    const applied = new Map(
      versions.flatMap(({ state, name, isRecorded }) => (state === 'applied' ? [[name, isRecorded]] : [])),
    )
    return differences.flatMap((difference) => {
      const path = MISSING.exec(difference)?.[1] ?? ''
      const of = (parts: number) => added.get(path.split('.').slice(-parts).join('.'))
      const name = of(2) ?? of(1)
      const isRecorded = name === undefined ? undefined : applied.get(name)
      return name === undefined || isRecorded === undefined
        ? []
        : [
            {
              difference,
              text: `${path} is missing, although ${isRecorded ? recordedText(name) : removedText(name)}`,
            },
          ]
    })
  }

  /** What to do about tables that differ: a version that is missing may be the reason. */
  async #nextOf(
    versions: readonly VersionStatus[],
    isContractLeft: boolean,
    isByHand: boolean,
    entities = 'MODULE',
  ): Promise<string> {
    const [{ nextLine }, { namesText }, { missingAmong }] = await Promise.all([
      import('../../migrate/lines/next-line.js'),
      import('../../migrate/lines/names-text.js'),
      import('../../migrate/missing-versions.js'),
    ])
    const missing = missingAmong(versions)
    const diff = ['diff', 'NAME', '--entities', shellWord(entities)]
    if (missing.length === 0 && isByHand)
      return nextLine([...diff, '--live'], 'which says how to bring this database back')
    if (missing.length === 0)
      return isContractLeft
        ? nextLine([...diff, '--contract'], 'once no process with the older code runs')
        : nextLine(diff, BY_HAND)
    const may = `${namesText(missing)} may settle what differs in the tables`
    return nextLine(['up'], `and then verify again: ${may}`)
  }
}
