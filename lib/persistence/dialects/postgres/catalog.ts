import {
  type Catalog,
  type CatalogRow,
  type LiveColumn,
  type LiveForeignKey,
  type LiveIndex,
  type LiveSchema,
  type LiveTable,
} from '../catalog/live-table.js'
import type { TableName } from '../catalog/table-definition.js'
import { postgresChanges } from './changes.js'
import { postgresDefault } from './default-text.js'

async function readTable(live: LiveSchema, table: TableName): Promise<LiveTable | undefined> {
  const [found] = await live.rows(
    `SELECT c.oid::text AS oid, relkind::text AS kind, relpersistence::text AS persistence
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = ? AND relname = ?`,
    [table.schema ?? live.schema, table.name],
  )
  if (found === undefined) return undefined
  const [columns, indexes] = [await live.rows(COLUMNS, [found.oid]), await live.rows(INDEXES, [found.oid])]
  const foreignKeys = await live.rows(FOREIGN_KEYS, [found.oid])
  const checks = await live.rows(CHECKS, [found.oid])
  const triggers = await live.rows(TRIGGERS, [found.oid])
  return {
    columns: columns.map(columnOf),
    primaryKey: namesOf(indexes.find(({ is_primary: isPrimary }) => isPrimary === true)?.columns),
    indexes: indexes.filter(({ is_primary: isPrimary }) => isPrimary !== true).map(indexOf),
    foreignKeys: foreignKeys.map((row) => foreignKeyOf(row, live)),
    checks: checks.map(({ name, is_valid: isValid, columns: read, definition }) => ({
      name: String(name),
      isValid: isValid === true,
      columns: namesOf(read),
      definition: String(definition),
    })),
    triggers: triggers.map(({ name }) => String(name)),
    faults: faultsOf(found),
  }
}

const COLUMNS = `
  SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable,
         (WITH RECURSIVE d AS (
            SELECT typtype, typbasetype, typtypmod FROM pg_type WHERE oid = atttypid AND typtype = 'd'
            UNION ALL SELECT n.typtype, n.typbasetype, CASE WHEN d.typtypmod < 0 THEN n.typtypmod ELSE d.typtypmod END
            FROM d JOIN pg_type n ON n.oid = d.typbasetype WHERE n.typtype = 'd')
          SELECT format_type(typbasetype, typtypmod) FROM d
          WHERE NOT EXISTS (SELECT FROM pg_type n WHERE n.oid = typbasetype AND n.typtype = 'd')) AS base_type,
         collname AS collation, pg_get_expr(adbin, adrelid) AS fallback,
         attgenerated <> '' AS is_generated, attidentity = 'a' AS is_identity,
         attidentity <> '' OR pg_get_expr(adbin, adrelid) ~ '^nextval\\(' AS is_minted
  FROM pg_attribute
  LEFT JOIN pg_collation c ON c.oid = attcollation
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = ?::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`

/**
 * Selects the indexes of a table. The definition of a key is used as its name unless the key is a plain
 * column in default order and collation.
 */
const INDEXES = `
  SELECT relname AS name, indisunique AS is_unique, indisprimary AS is_primary, amname AS method,
         pg_get_expr(indpred, indrelid) AS condition, NOT indimmediate AS is_deferrable,
         NOT indisvalid AND relkind = 'i' AS is_invalid,
         EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('u', 'x')) AS is_constraint,
         (to_jsonb(i) ->> 'indnullsnotdistinct')::boolean AS takes_nulls_for_equal,
         ARRAY(
           SELECT coalesce(attname::text, '(' || pg_get_indexdef(indexrelid, k, true) || ')')
             || CASE WHEN indcollation[k - 1] NOT IN (0, attcollation) THEN ' COLLATE ' || indcollation[k - 1]::regcollation ELSE '' END
             || CASE WHEN opcdefault THEN '' ELSE ' ' || opcname END
             || CASE WHEN amname = 'btree' AND indoption[k - 1] <> 0 THEN ' DESC' ELSE '' END
           FROM generate_series(1, indnkeyatts) AS keys (k)
           JOIN pg_opclass o ON o.oid = indclass[k - 1]
           LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[k - 1] AND attnum > 0
           ORDER BY k
         ) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
  WHERE indrelid = ?::oid ORDER BY relname`

const FOREIGN_KEYS = `
  SELECT conname AS name, n.nspname AS schema, c.relname AS target, confdeltype::text AS on_delete,
         confupdtype::text AS on_update, convalidated AS is_valid, condeferrable AS is_deferrable,
         ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS k (n, at)
               JOIN pg_attribute ON attrelid = conrelid AND attnum = k.n ORDER BY at) AS columns,
         ARRAY(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY AS k (n, at)
               JOIN pg_attribute ON attrelid = confrelid AND attnum = k.n ORDER BY at) AS target_columns
  FROM pg_constraint JOIN pg_class c ON c.oid = confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE contype = 'f' AND conparentid = 0 AND conrelid = ?::oid ORDER BY conname`

const CHECKS = `
  SELECT conname AS name, convalidated AS is_valid, pg_get_constraintdef(oid) AS definition,
    (SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey)) AS columns
  FROM pg_constraint WHERE contype = 'c' AND conrelid = ?::oid ORDER BY conname`

const TRIGGERS = `SELECT tgname AS name FROM pg_trigger WHERE tgrelid = ?::oid AND NOT tgisinternal ORDER BY tgname`

const ACTIONS: Readonly<Record<string, string>> = {
  r: 'RESTRICT',
  c: 'CASCADE',
  n: 'SET NULL',
  d: 'SET DEFAULT',
}

const foreignKeyOf = (row: CatalogRow, { schema }: LiveSchema): LiveForeignKey => ({
  name: String(row.name),
  columns: namesOf(row.columns),
  target: row.schema === schema ? String(row.target) : `${String(row.schema)}.${String(row.target)}`,
  targetColumns: namesOf(row.target_columns),
  onDelete: ACTIONS[String(row.on_delete)],
  onUpdate: ACTIONS[String(row.on_update)],
  isUnchecked: row.is_valid !== true,
  extras: row.is_deferrable === true ? ['DEFERRABLE'] : [],
})

function columnOf(row: CatalogRow): LiveColumn {
  const written = typeof row.fallback === 'string' ? row.fallback : undefined
  const isGenerated = row.is_generated === true
  return {
    name: String(row.name),
    type: String(row.type),
    ...(typeof row.base_type === 'string' ? { baseType: row.base_type } : {}),
    collation: typeof row.collation === 'string' ? row.collation : undefined,
    nullable: row.nullable === true,
    fallback: isGenerated || written === undefined ? undefined : postgresDefault(written, String(row.type)),
    generated: isGenerated ? (written ?? '') : row.is_identity === true ? '' : undefined,
    isIdentity: row.is_minted === true,
  }
}

const indexOf = (row: CatalogRow): LiveIndex => ({
  name: String(row.name),
  unique: row.is_unique === true,
  isConstraint: row.is_constraint === true,
  isInvalid: row.is_invalid === true,
  columns: namesOf(row.columns),
  method: row.method === 'btree' ? undefined : String(row.method),
  where: typeof row.condition === 'string' ? row.condition : undefined,
  extras: [
    ...(row.takes_nulls_for_equal === true ? ['NULLS NOT DISTINCT'] : []),
    ...(row.is_deferrable === true ? ['DEFERRABLE'] : []),
  ],
})

const namesOf = (names: unknown): readonly string[] => (Array.isArray(names) ? names.map(String) : [])

function faultsOf({ kind, persistence }: CatalogRow): readonly string[] {
  if (kind !== 'r' && kind !== 'p') return ['is not a table: drop or rename what has its name']
  return persistence === 'p' ? [] : ['is not logged, so that a crash empties it: ALTER TABLE … SET LOGGED']
}

export const postgresCatalog: Catalog = {
  readTable,
  defaultText: postgresDefault,
  exactCollations: ['C', 'POSIX'],
  hasDefault: ({ fallback }, wanted) => fallback === wanted,
  changes: postgresChanges,
}
