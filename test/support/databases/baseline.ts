import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { root } from '../root.js'

/** Creates Ashlar's own tables with its migrations. On SQLite the stores create their own. */
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

/** The errors of an upgrade on MySQL for existing columns and keys, which the migrator ignores, too. */
const EXISTS_ALREADY = [1060, 1061]

/** Splits a file into statements, except for PostgreSQL, which runs a whole file in one call. */
const statementsOf = (text: string, type: string): readonly string[] =>
  type === 'postgres' ? [text] : text.split(/;\s*$/m)
