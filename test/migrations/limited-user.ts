import type { FreshDatabase } from './fresh-database.js'

/** A user of the server with no rights but those given. */
export interface LimitedUser {
  readonly name: string
  /** The connection string of the database for this user. */
  readonly url: string
  drop(): Promise<void>
}

let made = 0

/**
 * Makes a user and gives it `rights` one by one, with `USER` in the place of its name:
 * `GRANT SELECT ON t TO USER`.
 */
export async function limitedUser(
  database: Pick<FreshDatabase, 'url' | 'dialect' | 'rows'>,
  rights: readonly string[],
): Promise<LimitedUser> {
  const name = `ashlar_limited_${process.pid}_${++made}`
  const password = `hush-${name}`
  const url = new URL(database.url)
  url.username = name
  url.password = password
  const isPostgres = database.dialect === 'postgres'
  const account = isPostgres ? name : `'${name}'@'%'`
  const run = async (...texts: readonly string[]) => {
    for (const text of texts) await database.rows(text)
  }
  await run(
    isPostgres
      ? `CREATE ROLE ${account} LOGIN PASSWORD '${password}'`
      : `CREATE USER ${account} IDENTIFIED BY '${password}'`,
    ...rights.map((right) => right.replaceAll('USER', account)),
  )
  const drop = () =>
    isPostgres ? run(`DROP OWNED BY ${account}`, `DROP ROLE ${account}`) : run(`DROP USER ${account}`)
  return { name, url: url.href, drop }
}
