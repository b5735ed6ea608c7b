import { schemaIsCurrent } from '../../lib/migrations/index.js'

const FILES = new URL('../../../examples/widgets/migrations/', import.meta.url)

/**
 * Resolves once the table of widgets is there. SQLite makes it by itself; PostgreSQL and MySQL get it from
 * `ashlar migrate up --files examples/widgets/migrations`.
 */
export function widgetSchema(database: string): () => Promise<void> {
  if (!/^(postgres(ql)?|mysql):/.test(database)) return () => Promise.resolve()
  return schemaIsCurrent({ url: database, files: FILES })
}
