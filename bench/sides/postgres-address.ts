export const SERVER = process.env['ASHLAR_TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const DATABASE = 'ashlar_bench'
/** The number of connections of each side. */
export const POOL = 10

export const benchUrl = (database = DATABASE): string =>
  Object.assign(new URL(SERVER), { pathname: `/${database}` }).href
