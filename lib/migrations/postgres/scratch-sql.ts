import { BACKFILL_TABLE, VERSION_TABLE } from '../files/framework-tables.js'
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
  broken: undefined,
  contents: `WITH ours AS (
      SELECT c.oid, c.relkind, format('%I.%I', nspname, c.relname) AS name FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = relnamespace
      LEFT JOIN pg_index AS i ON indexrelid = c.oid LEFT JOIN pg_class AS t ON t.oid = indrelid
      WHERE nspname <> 'information_schema' AND nspname !~ '^pg_'
        AND coalesce(t.relname, c.relname) NOT IN ('${VERSION_TABLE}', '${BACKFILL_TABLE}')
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = c.oid AND deptype = 'e')
    ), functions AS (
      SELECT p.oid, format('%I.%s', nspname, p.oid::regprocedure) AS name FROM pg_proc AS p
      JOIN pg_namespace AS n ON n.oid = pronamespace
      WHERE nspname <> 'information_schema' AND nspname !~ '^pg_' AND prokind IN ('f', 'p')
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
    )
    SELECT format('column %I of %s', attname, name) AS object,
      concat_ws(' ', format_type(atttypid, atttypmod), attcollation::regcollation, attnotnull, attidentity, attgenerated,
        pg_get_expr(adbin, adrelid)) AS definition
    FROM ours JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE relkind IN ('r', 'p', 'f')
    UNION ALL SELECT format('constraint %I of %s', conname, name), pg_get_constraintdef(pg_constraint.oid)
    FROM ours JOIN pg_constraint ON conrelid = ours.oid WHERE contype <> 'n'
    UNION ALL SELECT 'index ' || name, pg_get_indexdef(oid) FROM ours WHERE relkind IN ('i', 'I')
    UNION ALL SELECT 'view ' || name, pg_get_viewdef(oid) FROM ours WHERE relkind IN ('v', 'm')
    UNION ALL SELECT 'sequence ' || name, '' FROM ours WHERE relkind = 'S'
    UNION ALL SELECT format('trigger %I of %s', tgname, name), pg_get_triggerdef(pg_trigger.oid)
    FROM ours JOIN pg_trigger ON tgrelid = ours.oid WHERE NOT tgisinternal
    UNION ALL SELECT 'function ' || name, pg_get_functiondef(oid) FROM functions
    UNION ALL SELECT format('type %I.%I', nspname, typname),
      (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)
    FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = typnamespace
    WHERE typtype IN ('e', 'd') AND nspname <> 'information_schema' AND nspname !~ '^pg_'
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = t.oid AND deptype = 'e')
    UNION ALL SELECT format('schema %I', name), '' FROM (${OWN_SCHEMAS}) AS schemas
    UNION ALL SELECT 'extension ' || extname, '' FROM pg_extension`,
  right: 'grant it the right (ALTER ROLE … CREATEDB), or name an empty database with --scratch',
}
