import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository, seen from wherever the tests were compiled to; ends without a slash. */
export const root: string = rootAbove(dirname(fileURLToPath(import.meta.url)))

/** Where the tests were compiled to: the folder that has `test/` and `lib/` as JavaScript. */
export const compiled: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
}
