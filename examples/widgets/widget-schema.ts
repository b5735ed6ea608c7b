import type { DataSource } from 'typeorm'
import { schemaIsCurrent } from '../../lib/migrations/index.js'

const FILES = new URL('../../../examples/widgets/migrations/', import.meta.url)

/**
 * Resolves once the table of widgets is there. SQLite makes it by itself; PostgreSQL and MySQL get it from
 * `ashlar migrate up --files examples/widgets/migrations`.
 */
export function widgetSchema({ options }: Pick<DataSource, 'options'>): () => Promise<void> {
  if ((options.type !== 'postgres' && options.type !== 'mysql') || options.url === undefined)
    return () => Promise.resolve()
  return schemaIsCurrent({ url: options.url, files: FILES })
}
