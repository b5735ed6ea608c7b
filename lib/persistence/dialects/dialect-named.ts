import type { Dialect, DialectName } from './dialect.js'
import { mariadb, mysql } from './mysql.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

const DIALECTS: Readonly<Record<DialectName, Dialect>> = { postgres, mysql, mariadb, sqlite }

export const dialectNamed = (name: DialectName): Dialect => DIALECTS[name]
