import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { root } from '../root.js'

/** Creates the framework's own tables, as its baseline migration says. SQLite has none: its stores make their own. */
export async function applyBaseline(dataSource: Pick<DataSource, 'options' | 'query'>): Promise<void> {
  const { type } = dataSource.options
  if (type !== 'postgres' && type !== 'mysql' && type !== 'mariadb') return
  const folder = type === 'postgres' ? 'postgres' : 'mysql'
  const text = readFileSync(join(root, 'migrations', folder, '0001_framework_init.up.sql'), 'utf8')
  for (const statement of text.split(/;\s*$/m))
    if (/\S/.test(statement.replace(/^--.*$/gm, ''))) await dataSource.query(statement)
}
