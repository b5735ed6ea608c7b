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
    for (const statement of readFileSync(join(folder, file), 'utf8').split(/;\s*$/m))
      if (/\S/.test(statement.replace(/^--.*$/gm, ''))) await dataSource.query(statement)
}
