/**
 * The unique indexes and exclusion constraints of the table. Writing one of their columns may wait for
 * another transaction.
 */
const EXCLUSIVE = `
  SELECT * FROM pg_index WHERE indrelid = to_regclass($1) AND (indisunique OR indisexclusion)`

/** A condition that is true if an index contains a column as a key, in an expression or in its condition. */
const HOLDS = `
  a.attnum = ANY(e.indkey) OR EXISTS (
    SELECT FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND objid = e.indexrelid
      AND refclassid = 'pg_class'::regclass AND refobjid = e.indrelid AND refobjsubid = a.attnum)`

/** A condition that is true if the index excludes rows in which the column is set. */
const LEAVES = `
  e.indexprs IS NULL AND a.attnum <> ALL(e.indkey)
  AND pg_get_expr(e.indpred, e.indrelid) = format('(%I IS NULL)', a.attname)`

const REFERS = `
  EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f' AND a.attnum = ANY(conkey))`

/** A condition that is true for an index on keys that Ashlar generates, which cannot conflict. */
const IDENTIFIES = `
  e.indexprs IS NULL AND e.indpred IS NULL AND e.indimmediate
  AND (SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = e.indrelid AND attnum = ANY(e.indkey))
    <@ $2::text[]
  AND EXISTS (
    SELECT FROM pg_attribute
    WHERE attrelid = e.indrelid AND attnum = ANY(e.indkey) AND attname = ($2::text[])[1])`

/**
 * Selects the base type of a domain. A cast to the domain would fail all calls of a shared statement if one
 * value violates the domain's rules. On its own, such a value matches no row. Writes are checked by the
 * column.
 */
const BASE = `
  (WITH RECURSIVE d AS (
    SELECT t.oid, t.typtype, t.typbasetype
    UNION ALL SELECT n.oid, n.typtype, n.typbasetype FROM d JOIN pg_type n ON n.oid = d.typbasetype)
  SELECT oid FROM d WHERE typtype <> 'd')`

/**
 * Selects which calls on a table may share a statement (see `TableRulesQuery`). Parameters: the quoted table
 * and the columns that identify a row. `-1` selects the type's name without a length, because a cast to a
 * length would truncate values.
 */
export const TABLE_RULES = `
  WITH e AS (${EXCLUSIVE})
  SELECT c.relkind IN ('r', 'p'), c.relrowsecurity,
    c.relkind = 'r'
      AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
      AND NOT EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid)
      AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)
      AND NOT EXISTS (SELECT FROM e, pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '' AND (${HOLDS})),
    NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f')
      AND NOT EXISTS (SELECT FROM e WHERE NOT (${IDENTIFIES})),
    a.attname, format_type(${BASE}, -1), t.typcategory = 'A',
    ${REFERS} OR EXISTS (SELECT FROM e WHERE ${HOLDS}),
    ${REFERS} OR EXISTS (SELECT FROM e WHERE (${HOLDS}) AND NOT coalesce(${LEAVES}, false)),
    format_type(a.atttypid, a.atttypmod)
  FROM pg_class c
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.oid = to_regclass($1)`

/**
 * Selects triggers that run before a row is written, and rules. It covers the table, its partitions, the
 * tables that inherit it, and the tables that a view reads. Parameter: the quoted table.
 */
export const SUPPRESSING_TRIGGERS = `
  WITH RECURSIVE t(oid) AS (
    SELECT to_regclass($1)::oid
    UNION SELECT n.oid FROM t, LATERAL (
      SELECT inhrelid FROM pg_inherits WHERE inhparent = t.oid
      UNION ALL
      SELECT refobjid FROM pg_rewrite r JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = r.oid
      WHERE ev_class = t.oid AND ev_type = '1' AND refclassid = 'pg_class'::regclass) n(oid))
  SELECT 1 FROM t JOIN pg_trigger g ON g.tgrelid = t.oid
  WHERE NOT tgisinternal AND tgenabled <> 'D' AND (tgtype & 1) = 1 AND (tgtype & 66) <> 0
  UNION ALL SELECT 1 FROM t JOIN pg_rewrite r ON r.ev_class = t.oid WHERE ev_type <> '1' AND is_instead
  LIMIT 1`
