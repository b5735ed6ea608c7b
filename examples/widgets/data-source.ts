import { DataSource } from 'typeorm'
import { HotDataSource, SqliteDataSource } from '../../lib/index.js'
import { Widget } from './widget.js'

/** Where widgets live: a SQLite file or `:memory:`, the URL of a PostgreSQL or MySQL database, or an `fsnotify://` of one. */
export function widgetsDataSource(database: string): DataSource {
  const entities = [Widget]
  if (/^fsnotify:/.test(database)) return new HotDataSource({ dsn: database, timezone: 'Z', entities })
  if (/^postgres(ql)?:/.test(database))
    return new DataSource({ type: 'postgres', url: database, connectTimeoutMS: 10_000, entities })
  if (/^mysql:/.test(database))
    return new DataSource({ type: 'mysql', url: database, timezone: 'Z', connectTimeout: 10_000, entities })
  return new SqliteDataSource({ database, entities })
}
