/** The needs of a project with this database, in addition to the templates with the database's name. */
interface DatabaseFacts {
  readonly packages: readonly string[]
  readonly developmentPackages: readonly string[]
  /** Packages whose install scripts have to run. */
  readonly built: readonly string[]
  /** True if a server has to run, and files of migrations make the tables. */
  readonly isServer: boolean
  /** The folder of the files that INDEXED search needs, where the engine has it. */
  readonly searchFolder: string | undefined
}

export const DATABASE_FACTS = {
  sqlite: {
    packages: ['sqlite3'],
    developmentPackages: [],
    built: ['sqlite3'],
    isServer: false,
    searchFolder: undefined,
  },
  postgres: {
    packages: ['pg'],
    developmentPackages: ['@types/pg'],
    built: [],
    isServer: true,
    searchFolder: 'migrations/postgres',
  },
  mysql: {
    packages: ['mysql2'],
    developmentPackages: [],
    built: [],
    isServer: true,
    searchFolder: undefined,
  },
} as const satisfies Readonly<Record<string, DatabaseFacts>>

export type DatabaseName = keyof typeof DATABASE_FACTS

/** The first one is the default. */
export const DATABASES = Object.keys(DATABASE_FACTS) as [DatabaseName, ...DatabaseName[]]
