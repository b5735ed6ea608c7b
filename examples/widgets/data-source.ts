import { DataSource } from 'typeorm'
import { SqliteDataSource } from '../../lib/index.js'
import { Widget } from './widget.js'

/** Where widgets live: a SQLite file or `:memory:`, or the URL of a PostgreSQL or MySQL database. */
export function widgetsDataSource(database: string): DataSource {
  const entities = [Widget]
  if (/^postgres(ql)?:/.test(database)) return new DataSource({ type: 'postgres', url: database, entities })
  if (/^mysql:/.test(database))
    return new DataSource({ type: 'mysql', url: database, timezone: 'Z', entities })
  return new SqliteDataSource({ database, entities })
}
