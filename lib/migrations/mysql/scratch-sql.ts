import type { ScratchSql } from '../session/engine.js'

const quoted = (name: unknown): string => `\`${String(name).replaceAll('`', '``')}\``

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
  right:
    'grant it the right (GRANT ALL PRIVILEGES ON `…\\_ashlar\\_scratch\\_%`.*), or name an empty database with --scratch',
}
