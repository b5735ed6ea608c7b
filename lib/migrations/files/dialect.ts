/** The two engines that run versioned SQL. MariaDB counts as MySQL. */
export type Dialect = 'postgres' | 'mysql'

export const DIALECTS: readonly Dialect[] = ['postgres', 'mysql']
