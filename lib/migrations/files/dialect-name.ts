/** The engines that run versioned SQL. MariaDB is included in `mysql`. */
export const DIALECTS = ['postgres', 'mysql'] as const

/** The engines that migrations know. */
export type Dialect = (typeof DIALECTS)[number]

/** The engine of files that are not in an engine's folder. */
export const DEFAULT_DIALECT: Dialect = DIALECTS[0]
