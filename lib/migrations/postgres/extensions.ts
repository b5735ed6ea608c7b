import type { MigrationError } from '../../errors.js'
import { stopped } from '../messages/problem.js'
import { Cursor } from '../sql/cursor.js'
import type { Session } from '../session/session.js'
import type { Statement } from '../sql/split-statements.js'
import type { Step } from '../session/step.js'

/** An object that does not belong to an extension, but is in a schema that is searched because of one. */
export interface Stranger {
  /** The catalog, such as `pg_class`, with the object's id. */
  readonly id: string
  readonly schema: string
  readonly name: string
  /** A value that changes when the object is changed or a new object depends on it. */
  readonly version: string | null
}

/**
 * Lets a file use the types, functions and operators of the database's extensions in whichever schema they
 * are installed. Each extension exists once per database, for all modules. Other objects in these schemas do
 * not belong to the module.
 *
 * @returns the objects that the file may refer to, because it uses their name without a schema. Empty for a
 *   file that sets its own search path.
 */
export async function reachExtensions({ session, sql }: Step): Promise<readonly Stranger[]> {
  const own = session.prefix.slice(0, -1)
  await session.rows(`SELECT set_config('search_path', concat_ws(', ', ?::text, (${OTHERS})), false)`, [
    own,
    session.schema,
  ])
  if (/search_path/i.test(sql)) return []
  const found = await session.rows(STRANGERS, [session.schema, sql.toLowerCase()])
  return found
    .map(({ id, schema, name, version }) => ({
      id: String(id),
      schema: String(schema),
      name: String(name),
      version: typeof version === 'string' ? version : null,
    }))
    .filter((stranger) => isMeant(stranger, sql))
}

/**
 * Checks before the file's transaction ends that it used no object of another schema.
 *
 * @throws {MigrationError} if it did, because the module's schema does not have the object.
 */
export async function refuseStrangers(
  { session, name }: Step,
  strangers: readonly Stranger[],
): Promise<void> {
  if (strangers.length === 0) return
  const used = new Set((await session.rows(LOCKED)).map(({ id }) => id))
  const versions = new Map(
    (await session.rows(VERSIONS, [strangers.map(({ id }) => id)])).map(({ id, version }) => [id, version]),
  )
  const found = strangers.find(({ id, version }) => used.has(id) || versions.get(id) !== version)
  if (found !== undefined) throw foundElsewhere(session, name, found)
}

/**
 * Rejects an index whose table is in another schema.
 *
 * @throws {MigrationError} if an index's table is in another searched schema.
 */
export async function refuseStrangeTable({ session, name }: Step, path: readonly string[]): Promise<void> {
  const [table = ''] = path
  if (path.length !== 1 || (await session.hasTable(table))) return
  const [row] = await session.rows(
    `SELECT nspname AS schema FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
     WHERE pg_class.oid = to_regclass(quote_ident(?))`,
    [table],
  )
  if (row !== undefined) throw foundElsewhere(session, name, { schema: String(row.schema), name: table })
}

/** Returns true if a statement may change where extensions are installed. */
export const movesExtension = ({ tokens }: Statement): boolean =>
  ['CREATE', 'ALTER'].some((verb) => new Cursor(tokens).sees(verb, 'EXTENSION'))

const foundElsewhere = (
  session: Session,
  version: string,
  { schema: found, name }: Pick<Stranger, 'schema' | 'name'>,
): MigrationError =>
  stopped('failed', { kind: 'foundElsewhere', version, name, schema: session.schema, found })

/** Returns true if the SQL uses the name without a schema, and never with the object's schema. */
function isMeant({ schema, name }: Stranger, sql: string): boolean {
  const [of, it] = [schema, name].map((part) => {
    const escaped = part.replaceAll(/[^\w]/g, '\\$&')
    return `(?:"${escaped.replaceAll('\\"', '\\"\\"')}"|${escaped})`
  })
  const isThere = (pattern: string) => new RegExp(`${pattern}(?![\\w$])`, 'i').test(sql)
  return isThere(`(?<![\\w$."])${it}`) && !isThere(`(?<![\\w$])${of}\\s*\\.\\s*${it}`)
}

const OTHER_SCHEMAS = `SELECT DISTINCT n.oid, nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
  WHERE nspname NOT IN ('pg_catalog', ?)`
const OTHERS = `SELECT string_agg(quote_ident(nspname), ', ' ORDER BY nspname) FROM (${OTHER_SCHEMAS}) AS others`

/**
 * The objects of a schema. Changing or referencing a relation takes a lock on it. Changing a function or
 * type, or creating something that needs it, takes no lock and shows only in the catalog.
 */
const THINGS = `
  named AS (
    SELECT 'pg_class' AS kind, oid, relnamespace AS namespace, relname AS name, '' AS version FROM pg_class
    UNION ALL SELECT 'pg_proc', oid, pronamespace, proname, xmin::text FROM pg_proc
    UNION ALL SELECT 'pg_type', oid, typnamespace, typname, xmin::text FROM pg_type WHERE typrelid = 0 AND typelem = 0
    UNION ALL SELECT 'pg_collation', oid, collnamespace, collname, xmin::text FROM pg_collation
    UNION ALL SELECT 'pg_ts_config', oid, cfgnamespace, cfgname, xmin::text FROM pg_ts_config
    UNION ALL SELECT 'pg_ts_dict', oid, dictnamespace, dictname, xmin::text FROM pg_ts_dict
  ), things AS (
    SELECT kind || ':' || oid AS id, kind::regclass AS catalog, oid, namespace, name::text AS name, CASE WHEN version <> ''
      THEN version || ':' || (SELECT count(*) FROM pg_depend WHERE refclassid = kind::regclass AND refobjid = named.oid)
      END AS version
    FROM named
  )`

const STRANGERS = `
  WITH others AS (${OTHER_SCHEMAS}), ${THINGS}
  SELECT id, nspname AS schema, name, version
  FROM things JOIN others ON others.oid = namespace
  WHERE strpos(?::text, lower(name)) > 0
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = catalog AND objid = things.oid AND deptype = 'e')`

const VERSIONS = `WITH ${THINGS} SELECT id, version FROM things WHERE id = ANY(?::text[])`

/**
 * Selects the objects that this session has used in its transaction. A dropped object is no longer in a
 * catalog but still locked. An existing foreign key only takes a RowShareLock on the table that it
 * references.
 */
const LOCKED = `
  SELECT 'pg_class:' || relation AS id FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'relation' AND mode <> 'RowShareLock'
  UNION SELECT relname || ':' || objid FROM pg_locks JOIN pg_class c ON c.oid = classid
    WHERE pid = pg_backend_pid() AND locktype = 'object'`
