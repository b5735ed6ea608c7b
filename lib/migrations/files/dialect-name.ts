/** The engines that run versioned SQL. MariaDB counts as MySQL. */
export const DIALECTS = ['postgres', 'mysql'] as const

/** The engines that migrations know. */
export type Dialect = (typeof DIALECTS)[number]

/** The engine of files that are in no folder of an engine. */
export const DEFAULT_DIALECT: Dialect = DIALECTS[0]
