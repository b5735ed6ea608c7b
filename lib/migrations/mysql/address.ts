import type { DatabaseAddress } from '../session/engine.js'

/** Where `mysql2` connects. */
export function mysqlAddress(url: URL): DatabaseAddress {
  const host = decodeURIComponent(url.hostname) || 'localhost'
  return {
    dialect: 'mysql',
    name: decodeURIComponent(url.pathname.slice(1)),
    server: url.searchParams.get('socketPath') ?? `${host}:${url.port || '3306'}`,
  }
}
