/** Excludes PostgreSQL's own schemas. */
const OF_USERS = (schema: string): string =>
  `${schema}.nspname NOT LIKE 'pg\\_%' AND ${schema}.nspname <> 'information_schema'`

/** Returns a condition that is true for an object that an extension created. */
const OF_EXTENSION = (catalog: string, oid: string): string =>
  `EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${oid} AND d.deptype = 'e')`

/** Tables, views and similar relations. */
export const RELATIONS = `
SELECT c.oid::int8::text AS id, n.nspname AS schema, c.relname AS name, c.relkind AS kind,
  obj_description(c.oid, 'pg_class') AS comment, c.relispartition AS "isPartition",
  ${OF_EXTENSION('pg_class', 'c.oid')} AS "isOfExtension",
  CASE c.relkind WHEN 'p' THEN pg_get_partkeydef(c.oid) END AS partitioning, c.relrowsecurity AS "hasPolicies",
  CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END AS bound,
  (SELECT i.inhparent::int8::text FROM pg_inherits i WHERE i.inhrelid = c.oid LIMIT 1) AS parent
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' AND ${OF_USERS('n')}
ORDER BY n.nspname <> 'public', n.nspname, c.relname`

/** The columns of tables. The type of a domain is its base type. */
export const COLUMNS = `
WITH RECURSIVE plain AS (
  SELECT t.oid AS of, t.oid, t.typtype, t.typbasetype, t.typtypmod AS modifier, false AS "isRequired" FROM pg_type t
  UNION ALL
  SELECT p.of, t.oid, t.typtype, t.typbasetype, CASE WHEN p.modifier = -1 THEN t.typtypmod ELSE p.modifier END, p."isRequired" OR o.typnotnull
  FROM plain p JOIN pg_type o ON o.oid = p.oid JOIN pg_type t ON t.oid = o.typbasetype WHERE p.typtype = 'd'
)
SELECT a.attrelid::int8::text AS "table", a.attname AS name, format_type(a.atttypid, a.atttypmod) AS declared,
  b.typname AS type, coalesce(e.typtype, b.typtype) AS "typeKind", e.typname AS element,
  coalesce(e.oid, b.oid)::int8::text AS "typeId",
  CASE WHEN t.typtype = 'd' THEN p.modifier ELSE a.atttypmod END AS modifier,
  a.attnotnull OR p."isRequired" OR (t.typtype = 'd' AND t.typnotnull) AS "isRequired",
  CASE WHEN a.attgenerated = '' THEN pg_get_expr(ad.adbin, ad.adrelid) END AS default,
  CASE WHEN a.attgenerated <> '' THEN pg_get_expr(ad.adbin, ad.adrelid) END AS computed,
  a.attidentity AS identity, pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) AS sequence,
  CASE WHEN a.attcollation <> t.typcollation THEN format('%I.%I', cn.nspname, co.collname) END AS collation,
  NOT coalesce(co.collisdeterministic, true) AS "isInexact",
  col_description(a.attrelid, a.attnum) AS comment
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
JOIN plain p ON p.of = t.oid AND p.typtype <> 'd' JOIN pg_type b ON b.oid = p.oid
LEFT JOIN pg_type e ON e.oid = b.typelem AND b.typcategory = 'A'
LEFT JOIN pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum
LEFT JOIN pg_collation co ON co.oid = a.attcollation LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND ${OF_USERS('n')}
ORDER BY a.attrelid, a.attnum`

const NAMES = (numbers: string, table: string): string =>
  `ARRAY(SELECT a.attname::text FROM unnest(${numbers}) WITH ORDINALITY u(number, place) JOIN pg_attribute a ON a.attrelid = ${table} AND a.attnum = u.number ORDER BY u.place)`

/** Keys, checks, foreign keys and exclusions. */
export const CONSTRAINTS = `
SELECT k.conrelid::int8::text AS "table", k.conname AS name, k.contype AS kind, pg_get_constraintdef(k.oid) AS definition,
  ${NAMES('k.conkey', 'k.conrelid')} AS columns, k.confrelid::int8::text AS target,
  ${NAMES('k.confkey', 'k.confrelid')} AS "targetColumns", k.confdeltype AS "onDelete", k.condeferrable AS "isDeferrable"
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype IN ('p', 'u', 'c', 'f', 'x') AND k.conparentid = 0 AND ${OF_USERS('n')}
ORDER BY k.conrelid, k.contype, k.conname`

/** Indexes that do not belong to a constraint. */
export const INDEXES = `
SELECT i.indrelid::int8::text AS "table", c.relname AS name, pg_get_indexdef(i.indexrelid, 0, true) AS definition, i.indisunique AS "isUnique",
  m.amname AS method, i.indexprs IS NOT NULL OR i.indnkeyatts <> i.indnatts AS "isSpecial", pg_get_expr(i.indpred, i.indrelid) AS condition,
  ${NAMES('i.indkey::int2[]', 'i.indrelid')} AS columns
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am m ON m.oid = c.relam
WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
  AND NOT c.relispartition AND i.indisvalid AND ${OF_USERS('n')}
ORDER BY i.indrelid, c.relname`

/** Triggers with the source of their functions. */
export const TRIGGERS = `
SELECT t.tgrelid::int8::text AS "table", t.tgname AS name, pg_get_triggerdef(t.oid, true) AS definition, p.oid::int8::text AS function,
  p.prosrc AS source, p.proname AS "functionName", t.tgtype & 2 <> 0 AS "isBefore", t.tgtype & 4 <> 0 AS "onInsert", t.tgtype & 16 <> 0 AS "onUpdate"
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND ${OF_USERS('n')}
ORDER BY t.tgrelid, t.tgname`

/** Enum types, domains and composite types. */
export const TYPES = `
SELECT t.oid::int8::text AS id, format_type(t.oid, NULL) AS name, n.nspname AS schema, t.typname AS "plainName", t.typtype AS kind,
  ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder) AS labels,
  CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) || coalesce(' DEFAULT ' || t.typdefault, '') ||
    CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END ||
    coalesce((SELECT string_agg(' CONSTRAINT ' || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid), '' ORDER BY k.conname)
      FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'), '')
    WHEN 'c' THEN (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) END AS definition
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE (t.typtype IN ('e', 'd') OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')) AND ${OF_USERS('n')} AND NOT ${OF_EXTENSION('pg_type', 't.oid')}
ORDER BY t.oid`

/** Sequences with the columns that own them. */
export const SEQUENCES = `
SELECT s.seqrelid::regclass::text AS name, n.nspname AS schema, format_type(s.seqtypid, NULL) AS type, s.seqstart::text AS start, s.seqincrement::text AS increment,
  s.seqmin::text AS minimum, s.seqmax::text AS maximum, s.seqcache::text AS cache, s.seqcycle AS "isCycle",
  (SELECT d.refobjid::int8::text FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0) AS "table",
  (SELECT a.attname FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.deptype IN ('a', 'i')) AS column,
  EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.deptype = 'i') AS "isIdentity",
  ARRAY(SELECT DISTINCT ad.adrelid::int8::text FROM pg_depend d JOIN pg_attrdef ad ON ad.oid = d.objid
    WHERE d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.seqrelid) AS users
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OF_USERS('n')}
ORDER BY 1`

/**
 * The functions and extensions that tables need for a trigger, a default, a check, an index or a column type.
 */
export const NEEDED = `
WITH owners AS (
  SELECT 'pg_class'::regclass AS catalog, oid, oid AS "table" FROM pg_class WHERE relkind IN ('r', 'p')
  UNION ALL SELECT 'pg_attrdef'::regclass, oid, adrelid FROM pg_attrdef
  UNION ALL SELECT 'pg_constraint'::regclass, oid, conrelid FROM pg_constraint WHERE conrelid <> 0
  UNION ALL SELECT 'pg_class'::regclass, indexrelid, indrelid FROM pg_index
  UNION ALL SELECT 'pg_trigger'::regclass, oid, tgrelid FROM pg_trigger WHERE NOT tgisinternal
)
SELECT DISTINCT o."table"::int8::text AS "table", x.extname AS extension, xn.nspname AS "extensionSchema",
  p.oid::int8::text AS function, pn.nspname AS "functionSchema", CASE WHEN p.oid IS NOT NULL AND x.oid IS NULL THEN pg_get_functiondef(p.oid) END AS definition,
  CASE WHEN p.oid IS NOT NULL THEN p.oid::regprocedure::text END AS signature, p.prorettype = 'trigger'::regtype AS "isTrigger"
FROM owners o
JOIN pg_depend d ON d.classid = o.catalog AND d.objid = o.oid
LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid AND p.prokind = 'f'
LEFT JOIN pg_namespace pn ON pn.oid = p.pronamespace
LEFT JOIN pg_depend xd ON xd.classid = d.refclassid AND xd.objid = d.refobjid AND xd.deptype = 'e'
LEFT JOIN pg_extension x ON x.oid = xd.refobjid LEFT JOIN pg_namespace xn ON xn.oid = x.extnamespace
WHERE x.oid IS NOT NULL OR (p.oid IS NOT NULL AND ${OF_USERS('pn')})
ORDER BY 1, 2, 4`

/** Words that must be quoted as names in SQL. */
export const RESERVED = `SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'`
