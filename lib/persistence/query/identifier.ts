import type { Dialect } from '../executor.js'

/** A name as SQL text of the dialect. */
export const quoteIdentifier = (name: string, dialect: Dialect): string =>
  dialect === 'mysql' || dialect === 'mariadb'
    ? `\`${name.replaceAll('`', '``')}\``
    : `"${name.replaceAll('"', '""')}"`
