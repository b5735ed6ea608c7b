/** The needs of a project with this database, in addition to the templates with its name. */
interface DatabaseFacts {
  readonly packages: readonly string[]
  readonly developmentPackages: readonly string[]
  /** Packages whose install scripts must run. */
  readonly built: readonly string[]
  /** True if the database is a server and migration files create the tables. */
  readonly isServer: boolean
  /** The folder for the files of INDEXED search, if the engine supports it. */
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

/** The supported databases. The first one is the default. */
export const DATABASES = Object.keys(DATABASE_FACTS) as [DatabaseName, ...DatabaseName[]]
