import { openMysql } from './mysql-session.js'
import type { ResolvedOptions } from './options.js'
import { openPostgres } from './postgres-session.js'
import type { Session } from './session.js'

/** Runs `work` on a connection of its own, which is closed afterwards. One that changes things refuses a transaction pooler. */
export async function withSession<T>(
  options: ResolvedOptions,
  purpose: 'change' | 'read',
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await (options.dialect === 'postgres'
    ? openPostgres(options, purpose === 'change')
    : openMysql(options))
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}
