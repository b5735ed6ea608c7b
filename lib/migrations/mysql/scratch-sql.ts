import { BACKFILL_TABLE, VERSION_TABLE } from '../files/framework-tables.js'
import type { ScratchSql } from '../session/engine.js'

const quoted = (name: unknown): string => `\`${String(name).replaceAll('`', '``')}\``

const THEIRS = `TABLE_NAME NOT IN ('${VERSION_TABLE}', '${BACKFILL_TABLE}')`

/** Matches a column of the row that a trigger reads or writes. */
const ROW_COLUMN = /\b(?:NEW|OLD)\s*\.\s*(?:(\w+)|`([^`]+)`)/gi

export const mysqlScratch: ScratchSql = {
  create: (name) => `CREATE DATABASE ${quoted(name)} CHARACTER SET utf8mb4`,
  drop: (name) => `DROP DATABASE IF EXISTS ${quoted(name)}`,
  find: 'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE LOCATE(?, SCHEMA_NAME) = 1 ORDER BY 1',
  occupied: `SELECT 1 AS one FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
    UNION ALL SELECT 1 FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() LIMIT 1`,
  empty: async (session) => {
    await session.run('SET foreign_key_checks = 0', 0)
    const tables = await session.rows(
      'SELECT TABLE_NAME AS name, TABLE_TYPE AS kind FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
    )
    for (const { name, kind } of tables)
      await session.run(`DROP ${kind === 'VIEW' ? 'VIEW' : 'TABLE'} IF EXISTS ${quoted(name)}`, 0)
    const routines = await session.rows(
      'SELECT ROUTINE_NAME AS name, ROUTINE_TYPE AS kind FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()',
    )
    for (const { name, kind } of routines)
      await session.run(`DROP ${String(kind)} IF EXISTS ${quoted(name)}`, 0)
  },
  broken: async (session) => {
    const views: string[] = []
    const all = await session.rows(
      'SELECT TABLE_NAME AS name FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()',
    )
    for (const { name } of all) {
      const found = await session.rows(`CHECK TABLE ${quoted(name)}`)
      if (found.some(({ Msg_type: type }) => /^error$/i.test(String(type))))
        views.push(`view ${String(name)}`)
    }
    const triggers = await session.rows(
      'SELECT TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS place, ACTION_STATEMENT AS body FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()',
    )
    const columns = await session.rows(
      'SELECT TABLE_NAME AS place, LOWER(COLUMN_NAME) AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()',
    )
    const has = (place: unknown, name: string) =>
      columns.some((column) => column.place === place && column.name === name.toLowerCase())
    const isBroken = ({ place, body }: Readonly<Record<string, unknown>>) =>
      [...String(body).matchAll(ROW_COLUMN)].some(([, plain, quoted = plain]) => !has(place, String(quoted)))
    return [...views, ...triggers.filter(isBroken).map(({ name }) => `trigger ${String(name)}`)]
  },
  contents: `SELECT CONCAT('column ', TABLE_NAME, '.', COLUMN_NAME) AS object,
      CONCAT_WS(' ', COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION) AS definition
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND ${THEIRS}
    UNION ALL SELECT CONCAT('index ', INDEX_NAME, ' of ', TABLE_NAME),
      CONCAT_WS(' ', MIN(NON_UNIQUE), MIN(INDEX_TYPE),
        GROUP_CONCAT(CONCAT_WS(':', COLUMN_NAME, SUB_PART, COLLATION) ORDER BY SEQ_IN_INDEX))
    FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND ${THEIRS} GROUP BY TABLE_NAME, INDEX_NAME
    UNION ALL SELECT CONCAT('foreign key ', KEYS_.CONSTRAINT_NAME, ' of ', KEYS_.TABLE_NAME),
      CONCAT_WS(' ', REPLACE(MIN(DELETE_RULE), 'RESTRICT', 'NO ACTION'), REPLACE(MIN(UPDATE_RULE), 'RESTRICT', 'NO ACTION'),
        GROUP_CONCAT(CONCAT_WS(':', COLUMN_NAME, REFERENCED_COLUMN_NAME) ORDER BY ORDINAL_POSITION), MIN(KEYS_.REFERENCED_TABLE_NAME))
    FROM information_schema.KEY_COLUMN_USAGE AS KEYS_
    JOIN information_schema.REFERENTIAL_CONSTRAINTS AS RULES_
      ON RULES_.CONSTRAINT_SCHEMA = KEYS_.TABLE_SCHEMA AND RULES_.TABLE_NAME = KEYS_.TABLE_NAME AND RULES_.CONSTRAINT_NAME = KEYS_.CONSTRAINT_NAME
    WHERE KEYS_.TABLE_SCHEMA = DATABASE() GROUP BY KEYS_.TABLE_NAME, KEYS_.CONSTRAINT_NAME
    UNION ALL SELECT CONCAT('check ', CONSTRAINT_NAME), CHECK_CLAUSE
    FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()
    UNION ALL SELECT CONCAT('view ', TABLE_NAME), VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()
    UNION ALL SELECT CONCAT('trigger ', TRIGGER_NAME, ' of ', EVENT_OBJECT_TABLE),
      CONCAT_WS(' ', ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT)
    FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()
    UNION ALL SELECT CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME), ROUTINE_DEFINITION
    FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()`,
  right:
    'grant it the privilege (GRANT ALL PRIVILEGES ON `…\\_ashlar\\_scratch\\_%`.*), or name an empty database with --scratch',
}
