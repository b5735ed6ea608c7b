import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder of the repository, wherever the tests are compiled to, without a trailing slash. */
export const root: string = rootAbove(dirname(fileURLToPath(import.meta.url)))

/** The folder of the compiled tests. It contains `test/` and `lib/` as JavaScript. */
export const compiled: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
}
