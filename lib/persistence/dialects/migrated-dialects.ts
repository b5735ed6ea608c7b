import type { Dialect } from './dialect.js'
import { mysql } from './mysql.js'
import { postgres } from './postgres.js'

/** Those for which migrations of generated tables are written. MySQL's are for MariaDB as well. */
export const MIGRATED_DIALECTS = { postgres, mysql } as const

/** What `make` returns for each of them, by name. */
export const forMigrated = <T>(make: (dialect: Dialect) => T): Record<keyof typeof MIGRATED_DIALECTS, T> => ({
  postgres: make(postgres),
  mysql: make(mysql),
})
