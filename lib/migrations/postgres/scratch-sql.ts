import type { ScratchSql } from '../session/engine.js'

const quoted = (name: unknown): string => `"${String(name).replaceAll('"', '""')}"`

const OWN_SCHEMAS = `SELECT nspname AS name FROM pg_namespace
  WHERE nspname NOT IN ('information_schema', 'public') AND nspname !~ '^pg_'`

export const postgresScratch: ScratchSql = {
  create: (name) => `CREATE DATABASE ${quoted(name)} TEMPLATE template0`,
  drop: (name) => `DROP DATABASE IF EXISTS ${quoted(name)} WITH (FORCE)`,
  find: 'SELECT datname AS name FROM pg_database WHERE starts_with(datname, ?) ORDER BY 1',
  occupied: `SELECT 1 AS one FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname <> 'information_schema' AND nspname !~ '^pg_'
    UNION ALL SELECT 1 FROM (${OWN_SCHEMAS}) AS schemas LIMIT 1`,
  empty: async (session) => {
    for (const { name } of await session.rows(
      `SELECT extname AS name FROM pg_extension WHERE extname <> 'plpgsql'`,
    ))
      await session.run(`DROP EXTENSION IF EXISTS ${quoted(name)} CASCADE`, 0)
    for (const { name } of await session.rows(OWN_SCHEMAS))
      await session.run(`DROP SCHEMA ${quoted(name)} CASCADE`, 0)
    await session.run('DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public', 0)
  },
  right: 'grant it the right (ALTER ROLE … CREATEDB), or name an empty database with --scratch',
}
