import type { DataSource } from 'typeorm'
import type { LiveSchema } from '../../../lib/persistence/dialects/catalog/live-table.js'

/** The tables of a DataSource, as a comparison reads them. */
export function liveSchemaOf(dataSource: DataSource): LiveSchema {
  const isPostgres = dataSource.options.type === 'postgres'
  return {
    dialect: isPostgres ? 'postgres' : 'mysql',
    schema: isPostgres ? 'public' : '',
    rows: (text, values = []) => {
      let at = 0
      const numbered = isPostgres ? text.replaceAll('?', () => `$${++at}`) : text
      return dataSource.query(numbered, [...values])
    },
  }
}
