import type { Dialect } from './dialect.js'
import { mysql } from './mysql.js'
import { postgres } from './postgres.js'

/** The dialects of generated migrations. Migrations for MySQL also run on MariaDB. */
export const MIGRATED_DIALECTS = { postgres, mysql } as const

export type MigratedDialect = keyof typeof MIGRATED_DIALECTS

/** Calls `make` once for each dialect, and returns a function that looks up the result. */
export const forMigrated = <T>(make: (dialect: Dialect) => T): ((dialect: MigratedDialect) => T) => {
  const made = { postgres: make(postgres), mysql: make(mysql) }
  return (dialect) => made[dialect]
}
