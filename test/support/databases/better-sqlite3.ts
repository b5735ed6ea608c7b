import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../root.js'

/** Where the engines are that only tests need. A run on another Node has its own. */
export const enginesFolder = process.env.ASHLAR_TEST_ENGINES ?? join(root, 'test', 'support', 'engines')

/** The module object of the second SQLite engine; else why it is not there. */
export function betterSqlite3(): { readonly driver: unknown } | string {
  try {
    return {
      driver: createRequire(join(enginesFolder, 'package.json'))('better-sqlite3') as unknown,
    }
  } catch (error) {
    return `better-sqlite3 does not load (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`
  }
}
