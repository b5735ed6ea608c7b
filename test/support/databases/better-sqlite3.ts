import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../root.js'

/** The folder of engines that only tests use. Runs on another Node version have their own. */
export const enginesFolder = process.env.ASHLAR_TEST_ENGINES ?? join(root, 'test', 'support', 'engines')

/** Returns the module object of the second SQLite engine, or the reason why it is missing. */
export function betterSqlite3(): { readonly driver: unknown } | string {
  try {
    return {
      driver: createRequire(join(enginesFolder, 'package.json'))('better-sqlite3') as unknown,
    }
  } catch (error) {
    return `better-sqlite3 does not load (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`
  }
}
