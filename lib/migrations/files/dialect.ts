/** The two engines that versioned SQL runs on. MariaDB counts as MySQL. */
export type Dialect = 'postgres' | 'mysql'

export const DIALECTS: readonly Dialect[] = ['postgres', 'mysql']
