import type { Dialect } from '../../../lib/migrations/index.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { NextFiles } from '../next-files.js'

/** @param areEmpty - whether a person writes their SQL. */
export function newLines({ files }: NextFiles, areEmpty: boolean, style: Style): readonly string[] {
  if (files.length === 0)
    return [
      'nothing is written: the files create every table of the entities; with a connection string, their changes are written',
    ]
  return [
    ...files.map((file) => `${style.paint.good('written')} ${file}`),
    areEmpty
      ? nextLine(style, { command: 'migrate lint' }, 'once the files have their SQL')
      : nextLine(style, { command: 'migrate plan' }),
  ]
}

/** Of the engine of the connection string, where it has no folder and another one has. */
export const leftOutNote = (dialect: Dialect): string =>
  `nothing is written for ${dialect}, the engine of the connection string: --dialect ${dialect} begins its folder`

export const newFolderNote = (folder: string): string =>
  `${folder} is a new folder: in it, every table is new`
