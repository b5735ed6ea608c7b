import type { Dialect, DialectName } from './dialect.js'
import { mariadb, mysql } from './mysql.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

const DIALECTS: Readonly<Record<DialectName, Dialect>> = { postgres, mysql, mariadb, sqlite }

export const dialectOf = (name: DialectName): Dialect => DIALECTS[name]

/** Those for which migrations of generated tables are written. MySQL's are for MariaDB as well. */
export const MIGRATED = { postgres, mysql } as const

/** What `make` returns for each of them, by name. */
export const forMigrated = <T>(make: (dialect: Dialect) => T): Record<keyof typeof MIGRATED, T> => ({
  postgres: make(postgres),
  mysql: make(mysql),
})
