import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './root.js'

/** The module object of the second SQLite engine, which lives in `test/support/engines`; else why it is not there. */
export function betterSqlite3(): { readonly driver: unknown } | string {
  try {
    return {
      driver: createRequire(join(root, 'test', 'support', 'engines', 'package.json'))(
        'better-sqlite3',
      ) as unknown,
    }
  } catch (error) {
    return `better-sqlite3 does not load (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`
  }
}
