import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { root } from '../root.js'

/** Creates the framework's own tables, as its migrations say. SQLite has none: its stores make their own. */
export async function applyBaseline(dataSource: Pick<DataSource, 'options' | 'query'>): Promise<void> {
  const { type } = dataSource.options
  if (type !== 'postgres' && type !== 'mysql' && type !== 'mariadb') return
  const folder = join(root, 'migrations', type === 'postgres' ? 'postgres' : 'mysql')
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.up.sql'))
    .sort())
    for (const statement of statementsOf(readFileSync(join(folder, file), 'utf8'), type))
      if (/\S/.test(statement.replace(/^--.*$/gm, '')))
        await dataSource.query(statement).catch((error: unknown) => {
          if (!EXISTS_ALREADY.includes((error as { readonly errno?: number }).errno ?? 0)) throw error
        })
}

/** An upgrade on MySQL adds columns and keys that may exist, as the migrator does. */
const EXISTS_ALREADY = [1060, 1061]

/** PostgreSQL runs a whole file at once. */
const statementsOf = (text: string, type: string): readonly string[] =>
  type === 'postgres' ? [text] : text.split(/;\s*$/m)
