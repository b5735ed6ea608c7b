import type { Dialect } from '../../../lib/migrations/index.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { NextFiles } from '../next-files.js'

/** @param areEmpty - true if the user fills in the SQL. */
export function newLines({ files }: NextFiles, areEmpty: boolean, style: Style): readonly string[] {
  if (files.length === 0)
    return [
      'nothing is written: the files create every table of the entities; pass a connection string to write changes',
    ]
  return [
    ...files.map((file) => `${style.paint.good('written')} ${file}`),
    areEmpty
      ? nextLine(style, { command: 'migrate lint' }, 'once the files contain their SQL')
      : nextLine(style, { command: 'migrate plan' }),
  ]
}

/**
 * Returns the note that no files are written for the connection string's engine, because only another engine
 * has a folder.
 */
export const leftOutNote = (dialect: Dialect): string =>
  `nothing is written for ${dialect}, the connection string's engine: --dialect ${dialect} begins its folder`

export const newFolderNote = (folder: string): string =>
  `${folder} is a new folder, so every table counts as new`
