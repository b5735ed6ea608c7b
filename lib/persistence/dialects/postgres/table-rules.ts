/**
 * The unique indexes and exclusion constraints of the table: who writes one of their columns may wait for
 * another transaction.
 */
const EXCLUSIVE = `
  SELECT * FROM pg_index WHERE indrelid = to_regclass($1) AND (indisunique OR indisexclusion)`

/** True if an index holds a column: as a key, in an expression, or in its condition. */
const HOLDS = `
  a.attnum = ANY(e.indkey) OR EXISTS (
    SELECT FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND objid = e.indexrelid
      AND refclassid = 'pg_class'::regclass AND refobjid = e.indrelid AND refobjsubid = a.attnum)`

/** True if a row in which the column is set is not in the index. */
const LEAVES = `
  e.indexprs IS NULL AND a.attnum <> ALL(e.indkey)
  AND pg_get_expr(e.indpred, e.indrelid) = format('(%I IS NULL)', a.attname)`

const REFERS = `
  EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f' AND a.attnum = ANY(conkey))`

/** Generated keys, which no other row can have. */
const IDENTIFIES = `
  e.indexprs IS NULL AND e.indpred IS NULL AND e.indimmediate
  AND (SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = e.indrelid AND attnum = ANY(e.indkey))
    <@ $2::text[]
  AND EXISTS (
    SELECT FROM pg_attribute
    WHERE attrelid = e.indrelid AND attnum = ANY(e.indkey) AND attname = ($2::text[])[1])`

/**
 * The type that a domain is made of. A cast to the domain itself would fail all calls of a statement for a
 * value that its rules refuse, which alone finds nothing; where it is written the column checks it.
 */
const BASE = `
  (WITH RECURSIVE d AS (
    SELECT t.oid, t.typtype, t.typbasetype
    UNION ALL SELECT n.oid, n.typtype, n.typbasetype FROM d JOIN pg_type n ON n.oid = d.typbasetype)
  SELECT oid FROM d WHERE typtype <> 'd')`

/**
 * Which calls on a table may share a statement, as `TableRulesQuery` says. Values: the quoted table, the
 * columns that tell rows apart. `-1` gives the name of a type without a length: a cast to one would cut what
 * is too long.
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
 * Row triggers before a write, and rules, of the table, of its partitions and of tables that inherit it, and
 * of what a view reads. Value: the quoted table.
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
