import type { Dialect } from '../../lib/migrations/files/dialect-name.js'
import type { EmptyCopy } from '../../lib/migrations/index.js'
import type { Verb } from '../verb/verb.js'
import { connectionString } from './connection-string.js'
import { DatabaseRun } from './database-run.js'
import { emptyCopyHeading } from './headings.js'
import { type FolderFinding, inFolder, lintedFolders } from './lint-folder.js'
import { type DatabaseFlags, dialectIn } from './migrator-of.js'
import { emptyFolder } from './next-files.js'

/** The reason why the files of an engine were not applied to an empty copy of the given database. */
export interface NotApplied {
  readonly dialect: Dialect
  /** The folder of the files. */
  readonly file: string
  readonly rule: 'not-applied'
  readonly level: 'note'
  readonly text: string
  readonly why: EmptyCopy
}

interface OnEmptyCopy {
  readonly failing: readonly FolderFinding[]
  readonly notApplied: readonly NotApplied[]
}

type LintFlags = Omit<DatabaseFlags, 'url'> & {
  readonly url: string | undefined
  readonly scratch: string | undefined
  readonly dialect: Dialect | undefined
}

/**
 * Applies the files to an empty copy of the schema. Does nothing without `url` and `scratch`.
 * @param linted - the lint findings. Rejected files are not run.
 */
export async function onEmptyCopy(
  verb: Pick<Verb, 'note' | 'beside' | 'paint'>,
  flags: LintFlags,
  linted: readonly FolderFinding[],
): Promise<OnEmptyCopy> {
  const url = flags.url ?? flags.scratch
  if (url === undefined) return { failing: [], notApplied: [] }
  const { emptyCopyText } = await import('../../lib/migrations/index.js')
  const named = await dialectIn(url)
  const folders = lintedFolders(flags.files, flags.dialect)
  const failing: FolderFinding[] = []
  const notApplied: NotApplied[] = []
  for (const { dialect, folder } of folders) {
    if (emptyFolder(flags.files, dialect) !== undefined) continue
    const say = (why: EmptyCopy) =>
      notApplied.push({
        dialect,
        file: folder,
        rule: 'not-applied',
        level: 'note',
        text: emptyCopyText(why),
        why,
      })
    if (dialect !== named) say({ kind: 'otherEngine', dialect })
    else if (linted.some((one) => one.dialect === dialect && one.level === 'refuse'))
      say({ kind: 'refusedFile' })
    else {
      const run = new DatabaseRun(verb, { ...flags, url }, { heading: await emptyCopyHeading(flags) })
      const scratch =
        flags.scratch === undefined ? undefined : await connectionString(flags.scratch, 'ASHLAR_SCRATCH_URL')
      const { findings, untried } = await run.change((migrator) => migrator.tryUps(scratch))
      failing.push(...findings.map((finding) => inFolder(finding, dialect, folder)))
      if (untried !== undefined) say({ kind: 'noDatabase', problem: untried })
    }
  }
  return { failing, notApplied }
}
