import { existsSync } from 'node:fs'
import { shellWord } from '../../lib/text/shell-word.js'
import { Failure } from '../errors/failure.js'
import { GENERATED_FILE } from '../../lib/migrations/files/search-migrations.js'
import { applyFiles, type FileChanges, type Files, readFiles } from './file-changes.js'

export interface SyncOptions {
  readonly from: string
  readonly to: string
  readonly check: boolean
}

/**
 * Copies generated files byte for byte and removes nothing. It never replaces an existing file with another
 * text, because that file may have been applied, and never uses a number twice.
 * @throws {Failure}
 */
export function syncSearch({ from, to, check }: SyncOptions): FileChanges {
  if (!existsSync(from))
    throw new Failure(
      'input',
      `there is no folder ${from}: name the folder that ashlar search generate wrote`,
    )
  const generated = readFiles(from, GENERATED_FILE)
  const present = readFiles(to, /\.sql$/)
  const refused = [...editedIn(generated, present), ...doubledIn(generated, present)]
  if (refused.length > 0)
    throw new Failure(
      'differs',
      `nothing is copied to ${to}: ${refused.join('; ')}. Generate again, which uses the next free numbers: ashlar search generate --entities MODULE --out ${shellWord(from)} --migrations ${shellWord(to)}`,
    )
  return applyFiles(to, generated, [], check)
}

const editedIn = (generated: Files, present: Files): readonly string[] => {
  const names = Object.keys(generated).filter((name) => name in present && present[name] !== generated[name])
  return names.length === 0
    ? []
    : [`it has other content in ${names.join(', ')}, and an applied file is never edited`]
}

/** Returns the files whose number another migration has. */
function doubledIn(generated: Files, present: Files): readonly string[] {
  const versions = (files: Files) => [...new Set(Object.keys(files).map((name) => name.replace(WAY, '')))]
  return versions(generated).flatMap((name) => {
    const other = versions(present).find((one) => one !== name && numberOf(one) === numberOf(name))
    return other === undefined ? [] : [`it contains ${other}, which has the same number as ${name}`]
  })
}

const WAY = /(?:\.(?:up|down))?\.sql$/
const numberOf = (name: string): string | undefined => /^\d+(?=_)/.exec(name)?.[0]
