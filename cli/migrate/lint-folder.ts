import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_DIALECT, type Dialect, DIALECTS } from '../../lib/migrations/files/dialect-name.js'
import type { Finding } from '../../lib/migrations/index.js'
import { attempt, type Reporter } from './attempt.js'

/** A lint finding. The file name includes the engine's folder if there are such folders. */
export type FolderFinding = Finding & { readonly dialect: Dialect }

/** Returns the engines whose files are checked, with their folders. */
export function lintedFolders(
  folder: string,
  dialect: Dialect | undefined,
): readonly { readonly dialect: Dialect; readonly folder: string }[] {
  const there = DIALECTS.filter((one) => existsSync(join(folder, one)))
  const asked = dialect === undefined ? (there.length > 0 ? there : [DEFAULT_DIALECT]) : [dialect]
  return asked.map((one) => ({ dialect: one, folder: join(folder, ...(there.includes(one) ? [one] : [])) }))
}

/** Adds the folder to a finding. */
export const inFolder = (finding: Finding, dialect: Dialect, folder: string): FolderFinding => ({
  ...finding,
  dialect,
  file: join(folder, finding.file),
})

/** Returns the findings in the files of a folder, for one engine or for every engine that has files. */
export function lintFolder(
  folder: string,
  dialect: Dialect | undefined,
  reporter: Reporter,
): Promise<readonly FolderFinding[]> {
  return attempt(async () => {
    const { lintFiles } = await import('../../lib/migrations/index.js')
    const found = await Promise.all(
      lintedFolders(folder, dialect).map(async (one) =>
        (await lintFiles(folder, one.dialect)).map((finding) => inFolder(finding, one.dialect, one.folder)),
      ),
    )
    return found.flat()
  }, reporter)
}
